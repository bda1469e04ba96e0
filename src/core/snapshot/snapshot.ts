import { readAhead, readWhole } from "../engine/reads/read-account.ts";
import { lists } from "../kinds/index.ts";
import { integrations } from "../kinds/lists.ts";
import { integrationAddress } from "../kinds/manifests.ts";
import { readSchemas } from "../kinds/schemas.ts";
import { type Address, byText } from "../model/address.ts";
import { listOf, memberOf, objectOf, type Part, textOf } from "../model/decode.ts";
import { DimsyncError, ServiceError } from "../model/errors.ts";
import { canonicalJson, isObject, own } from "../model/json/json.ts";
import type { Pointer } from "../model/json/pointer.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Problem } from "../model/problem.ts";
import type { List, Listed, Listing, Reads } from "../model/service.ts";
import { accountName } from "../model/settings/config.ts";
import { decodeSchemaMap } from "../service/decode/schemas.ts";

/**
 * The live state of an account at one time, for plans, tests and comparisons without a key and
 * network. It contains what GET returns: no connections and no secrets; text in descriptions that
 * looks like a credential is redacted. No audit log.
 */
export interface Snapshot {
  readonly formatVersion: "1.0";
  readonly kind: "Snapshot";
  /** ISO 8601 */
  readonly takenAt: string;
  readonly tool: { readonly name: "dimsync"; readonly version: string };
  /** The target's name, and the account as in plans. */
  readonly target: string;
  readonly account: string;
  /** Whether the service stated that its lists are complete. */
  readonly completeness: Readonly<Record<string, Listing<unknown>["completeness"]>>;
  /** The objects of each list, whole. In the file, each list is a member of its name. */
  readonly lists: ReadonlyMap<string, readonly Listed[]>;
  /** By integration id; null if GET returned 404. */
  readonly schemas: Readonly<Record<string, LiveSchemas | null>>;
}

export type SnapshotHead = Pick<Snapshot, "takenAt" | "tool" | "target" | "account">;

/**
 * The text of a snapshot in pieces, one integration's schemas at a time, so that memory does not
 * grow with the account. Keys and lists are sorted: two snapshots of one state differ only in
 * `takenAt`. Throws ServiceError; a snapshot is never incomplete.
 */
export async function* snapshotText(
  reads: Reads,
  head: SnapshotHead,
  onIntegration: (done: number, total: number, address: Address) => void = () => {},
): AsyncGenerator<string> {
  const read = await Promise.all(
    lists.map(async (list) => {
      const { items, completeness } = await reads.list(list);
      return { name: list.name, completeness, items: byId(await readWhole(reads, { list, items })) };
    }),
  );
  const body = {
    formatVersion: "1.0",
    kind: "Snapshot",
    ...head,
    completeness: Object.fromEntries(read.map(({ name, completeness }) => [name, completeness])),
    ...Object.fromEntries(read.map(({ name, items }) => [name, items.map(storedObject)])),
  };
  yield `${JSON.stringify(body, undefined, 1).slice(0, -2)},\n "schemas": {`;
  const sorted = read.find(({ name }) => name === integrations.name)?.items ?? [];
  let done = 0;
  for await (const { item, read } of readAhead(sorted, ({ id }) => readSchemas(reads, id))) {
    yield `${done === 0 ? "" : ","}\n  ${JSON.stringify(item.id)}: ${read === undefined ? "null" : canonicalJson(read)}`;
    onIntegration(++done, sorted.length, integrationAddress(item.name ?? ""));
  }
  yield "\n }\n}\n";
}

/** Without credentials in texts that users write, and with lists in the order of their ids. */
const storedObject = (object: object): object =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]: readonly [string, unknown]) => [
      key,
      key === "description" && typeof value === "string" ? redact(value) : Array.isArray(value) ? byId(value) : value,
    ]),
  );

const byId = <T extends { readonly id: string }>(items: readonly T[]): readonly T[] => [...items].sort((a, b) => byText(a.id, b.id));

/** Throws E_SNAPSHOT if the value is not a snapshot in a known format. */
export function toSnapshot(value: unknown, file: string): Snapshot {
  const version = isObject(value) ? own(value, "formatVersion") : undefined;
  if (!isObject(value) || own(value, "kind") !== "Snapshot")
    throw new DimsyncError("E_SNAPSHOT", `${file} is not a snapshot. To create one:`, { command: "dimsync snapshot --out FILE" });
  if (typeof version !== "string" || !version.startsWith("1."))
    throw new DimsyncError(
      "E_SNAPSHOT",
      `${file} is a snapshot in format ${String(version)}, but this version of dimsync reads 1.x. Take the snapshot again.`,
    );
  const damaged = (pointer: Pointer): DimsyncError =>
    new DimsyncError("E_SNAPSHOT", `${file} is damaged: ${pointer} is missing or has the wrong type. Take the snapshot again.`);
  const root: Part = { value, where: { method: "GET", path: file, sent: "answered", refuse: damaged }, above: "" };
  const member = (name: string): Part => memberOf(root, name);
  const takenAt = textOf(member("takenAt"));
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(takenAt)) throw damaged("/takenAt");
  for (const name of ["target", "account"]) textOf(member(name));
  for (const { name } of lists) textOf(memberOf(member("completeness"), name));
  const schemas = objectOf(member("schemas"));
  for (const id of Object.keys(schemas)) if (schemas[id] !== null) decodeSchemaMap(memberOf(member("schemas"), id));
  // Written by snapshotText from decoded responses, and checked above as far as anything relies on it.
  return {
    ...(value as unknown as Snapshot),
    lists: new Map(lists.map((list) => [list.name, listOf(member(list.name)).map(list.decode)])),
  };
}

/** A warning if the snapshot was taken of another target and another account. */
export function snapshotOfAnother(
  { target, account }: Snapshot,
  settings: { readonly target: string; readonly baseUrl: string },
  file: string,
): Problem | undefined {
  if (target === settings.target || account === accountName(settings.baseUrl)) return undefined;
  return {
    code: "W_SNAPSHOT_OF_ANOTHER",
    severity: "warning",
    message: `${file} is a snapshot of ${target} (${account}), but bindings and variables are those of ${settings.target} (${accountName(settings.baseUrl)}). Select the target of the snapshot with -t, or pass a snapshot of this one.`,
  };
}

/** Reads from a snapshot. It has no audit log: reading that fails as without permission. */
export function readsOf(snapshot: Snapshot): Reads {
  const schemas = async (id: string): Promise<LiveSchemas | undefined> => own(snapshot.schemas, id) ?? undefined;
  // What the list of this name decoded.
  const objects = <T extends Listed>({ name }: List<T>): readonly T[] => (snapshot.lists.get(name) ?? []) as readonly T[];
  return {
    list: async (list) => ({
      items: objects(list).map((object) => list.brief?.(object) ?? object),
      completeness: own(snapshot.completeness, list.name) ?? "unknown",
    }),
    one: async (list, id) => (list.one === undefined ? undefined : objects(list).find((object) => object.id === id)),
    schemas: async (id) => {
      const tree = await schemas(id);
      return tree === undefined ? undefined : { tree };
    },
    columns: async (id, schema, table) => own(own(await schemas(id), schema)?.tables, table)?.columns,
    auditLogs: () =>
      Promise.reject(
        new ServiceError("E_SNAPSHOT", "A snapshot has no audit log. Run the command without --snapshot.", {
          method: "GET",
          path: "/v1/audit-logs",
          sent: "never",
        }),
      ),
  };
}

const replacement = "(redacted)";

// Text that is a credential in any context. A word such as "token" alone is not.
const credentials: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/giu,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu,
  /\b(?:gh[opsu]_|github_pat_|glpat-|xox[abprs]-|sk-)[\w-]{16,}/gu,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/gu,
  /(?<=\b(?:password|passwd|pwd|secret|token|api[_-]?key|private[_-]?key|passphrase)\b["']?\s*[=:]\s*["']?)[^\s"',;]+/giu,
];

/** The text with everything that looks like a credential replaced, because users write them into descriptions. */
export function redact(text: string): string {
  return credentials.reduce((left, credential) => left.replaceAll(credential, replacement), text);
}
