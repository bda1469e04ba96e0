import type { AccountState } from "../../../src/embedded/data/account.ts";

/** A leaf of the account that changed; undefined if it does not exist. */
export interface AccountChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Every different leaf of two states of an account, in the order of paths:
 * "integrations[8f1c].schemas/public/…". Lists of objects with ids are compared by id. Ignores the
 * audit log, sequence numbers and `lastUpdatedAt`, which every write changes.
 */
export function accountChanges(before: AccountState, after: AccountState): readonly AccountChange[] {
  const was = leavesOf(before);
  const is = leavesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => JSON.stringify(was.get(path)) !== JSON.stringify(is.get(path)))
    .sort()
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }));
}

/**
 * One line per change: "path: before → after". Secrets are shown as "(secret NAME)". For discovered
 * schemas of a new integration, only hashed columns and enabled schemas and tables.
 */
export function changeLines(changes: readonly AccountChange[], env: Readonly<Record<string, string>>): string {
  const shown = (value: unknown): string => {
    const name = Object.keys(env).find((key) => env[key] === value);
    return value === undefined ? "(none)" : name === undefined ? JSON.stringify(value) : `(secret ${name})`;
  };
  const created = new Set(
    changes.flatMap(({ path, before }) => (before === undefined ? (/^(integrations\[.*?\])\/id$/u.exec(path)?.[1] ?? []) : [])),
  );
  return changes
    .filter(({ path, after }) => {
      const [, integration = "", rest] = /^(integrations\[.*?\])\/schemas\/(.*)$/u.exec(path) ?? [];
      return (
        rest === undefined || !created.has(integration) || (after === true && /hashed$|^[^/]*(?:\/tables\/[^/]*)?\/enabled$/u.test(rest))
      );
    })
    .map(({ path, before, after }) => `${path}: ${shown(before)} → ${shown(after)}\n`)
    .join("");
}

function leavesOf(account: AccountState): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      for (const [index, member] of value.entries()) visit(member, `${path}[${idOf(member) ?? index}]`);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) visit(member, path === "" ? key : `${path}/${escaped(key)}`);
    } else leaves.set(path, value);
  };
  const { users, assets, integrations, tags } = account;
  visit({ users, assets, integrations, tags: tags.map(({ lastUpdatedAt: _, ...tag }) => tag) }, "");
  return leaves;
}

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

function idOf(member: unknown): string | undefined {
  if (typeof member !== "object" || member === null) return undefined;
  const { id, resourceId } = member as { readonly id?: string; readonly resourceId?: string };
  return id ?? resourceId;
}
