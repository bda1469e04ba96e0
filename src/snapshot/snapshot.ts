import { readAhead, readSchemas } from "../engine/read-schemas.ts";
import { type Address, byText } from "../model/address.ts";
import { accountName } from "../model/config.ts";
import { DimsyncError, ServiceError } from "../model/errors.ts";
import { canonicalJson, isObject, own } from "../model/json.ts";
import type { LiveIntegration, LiveSchemas, LiveTag, LiveUser } from "../model/live.ts";
import type { Problem } from "../model/problem.ts";
import type { Listing, Reads } from "../model/service.ts";
import { damagedMember } from "./shape.ts";

/**
 * What an account showed at one time, for plans, tests and comparisons without a key and without a network. It holds what reads show, which is
 * neither connections nor secrets; credentials that somebody wrote into a description are blanked. Users keep id, e-mail and name, since manifests name
 * people by them. No audit log.
 */
export interface Snapshot {
  readonly formatVersion: "1.0";
  readonly kind: "Snapshot";
  /** ISO 8601 */
  readonly takenAt: string;
  readonly tool: { readonly name: "dimsync"; readonly version: string };
  /** The target's name, and where the account is, as plans show it. */
  readonly target: string;
  readonly account: string;
  /** Whether the service said that its lists were whole (product §3.1). */
  readonly completeness: Readonly<Record<"integrations" | "tags" | "users", Listing<unknown>["completeness"]>>;
  readonly integrations: readonly LiveIntegration[];
  /** With taggedResources. */
  readonly tags: readonly LiveTag[];
  readonly users: readonly LiveUser[];
  /** By integration id; null where the service answered 404. */
  readonly schemas: Readonly<Record<string, LiveSchemas | null>>;
}

/**
 * The snapshot's text in pieces, an integration's schemas at a time: none is held longer than it takes to write it. Keys and lists are in order, so that
 * two snapshots of one state differ in `takenAt` only. Throws ServiceError: half a picture would plan half an account.
 */
export async function* snapshotText(
  reads: Reads,
  head: Pick<Snapshot, "takenAt" | "tool" | "target" | "account">,
  onIntegration: (done: number, total: number, address: Address) => void = () => {},
): AsyncGenerator<string> {
  const [integrations, tagList, users] = await Promise.all([reads.integrations(), reads.tags(), reads.users()]);
  const tags = await Promise.all(tagList.items.map(async (tag) => (await reads.tag(tag.id)) ?? tag));
  const body = {
    formatVersion: "1.0",
    kind: "Snapshot",
    ...head,
    completeness: { integrations: integrations.completeness, tags: tagList.completeness, users: users.completeness },
    integrations: byId(integrations.items),
    tags: byId(tags).map((tag) => ({
      ...tag,
      ...(tag.description === undefined ? {} : { description: redact(tag.description) }),
      taggedResources: byId(tag.taggedResources ?? []),
    })),
    users: byId(users.items).map(({ id, email, name }) => ({ id, email, ...(name === undefined ? {} : { name }) })),
  };
  yield `${JSON.stringify(body, undefined, 1).slice(0, -2)},\n "schemas": {`;
  const sorted = byId(integrations.items);
  let done = 0;
  for await (const outcome of readAhead(sorted, 4, ({ id }) => readSchemas(reads, id))) {
    if ("error" in outcome) throw outcome.error;
    const { item, read } = outcome;
    yield `${done === 0 ? "" : ","}\n  ${JSON.stringify(item.id)}: ${read === undefined ? "null" : canonicalJson(read)}`;
    onIntegration(++done, sorted.length, `Integration/${item.name}`);
  }
  yield "\n }\n}\n";
}

const byId = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] => [...items].sort((a, b) => byText(a.id, b.id));

/** Throws E_SNAPSHOT where the value is no snapshot of a format that is known. */
export function toSnapshot(value: unknown, file: string): Snapshot {
  const version = isObject(value) ? own(value, "formatVersion") : undefined;
  if (!isObject(value) || own(value, "kind") !== "Snapshot")
    throw new DimsyncError("E_SNAPSHOT", `${file} is no snapshot. Make one with: dimsync snapshot --out FILE`);
  if (typeof version !== "string" || !version.startsWith("1."))
    throw new DimsyncError(
      "E_SNAPSHOT",
      `${file} is a snapshot of format ${String(version)}, and this version of dimsync reads 1.x. Take it again.`,
    );
  const damaged = damagedMember(value);
  if (damaged !== undefined)
    throw new DimsyncError("E_SNAPSHOT", `${file} is damaged: ${damaged} is not what a snapshot holds there. Take it again.`);
  return value as unknown as Snapshot; // made by snapshotText, whose entries the client has decoded
}

/** Undefined for a snapshot of the target's account, as far as its name and place tell. */
export function snapshotOfAnother(
  { target, account }: Snapshot,
  settings: { readonly target: string; readonly baseUrl: string },
  file: string,
): Problem | undefined {
  if (target === settings.target || account === accountName(settings.baseUrl)) return undefined;
  return {
    code: "W_SNAPSHOT_OF_ANOTHER",
    severity: "warning",
    summary: "Snapshot of another account",
    message: `${file} is a snapshot of ${target} (${account}), and is compared with the bindings and variables of ${settings.target} (${accountName(settings.baseUrl)}). Choose the target with -t, or a snapshot of it.`,
  };
}

/** Reads that a snapshot answers. The audit log is not in it: asking for it fails as where there is no access. */
export function readsOf(snapshot: Snapshot): Reads {
  const listing = <T>(items: readonly T[], list: keyof Snapshot["completeness"]): Promise<Listing<T>> =>
    Promise.resolve({ items, completeness: snapshot.completeness[list] });
  const schemas = async (id: string): Promise<LiveSchemas | undefined> => own(snapshot.schemas, id) ?? undefined;
  return {
    integrations: () => listing(snapshot.integrations, "integrations"),
    integration: async (id) => snapshot.integrations.find((one) => one.id === id),
    schemas,
    columns: async (id, schema, table) => own(own(await schemas(id), schema)?.tables, table)?.columns,
    tags: () =>
      listing(
        snapshot.tags.map(({ taggedResources: _, ...tag }) => tag),
        "tags",
      ),
    tag: async (id) => snapshot.tags.find((one) => one.id === id),
    users: () => listing(snapshot.users, "users"),
    auditLogs: () =>
      Promise.reject(
        new ServiceError("E_SNAPSHOT", "A snapshot holds no audit log. Ask the account itself, without --snapshot.", {
          method: "GET",
          path: "/v1/audit-logs",
          sent: "never",
        }),
      ),
  };
}

/** What stands for a credential. */
const blank = "(redacted)";

// Forms that are credentials whatever stands around them. A word such as "token" alone is none.
const forms: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/giu,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu,
  /\b(?:gh[opsu]_|github_pat_|glpat-|xox[abprs]-|sk-)[\w-]{16,}/gu,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/gu,
  /(?<=\b(?:password|passwd|pwd|secret|token|api[_-]?key|private[_-]?key|passphrase)\b["']?\s*[=:]\s*["']?)[^\s"',;]+/giu,
];

/** Free text without what looks like a credential: people write them into descriptions. Text without one is the same text. */
export function redact(text: string): string {
  return forms.reduce((left, form) => left.replaceAll(form, blank), text);
}
