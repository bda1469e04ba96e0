import { byText } from "../../../core/model/address.ts";
import { grouped } from "../../../core/text/lists.ts";
import { didYouMean } from "../../../core/text/suggest.ts";
import { type AccountState, type AccountSummary, accountStates, type Counts, isExposed, type Totals } from "../views/status.ts";
import type { PageReads } from "./reads.ts";
import { ProblemError } from "./reply.ts";

/** Which accounts a list shows; the same in the query of the page and of the API. */
export interface AccountFilter {
  /** Empty: any state. */
  readonly states: readonly AccountState[];
  /** "team=sales", or "team" for any value. An account must have all of them. */
  readonly labels: readonly string[];
  /** A part of the name or source, in any case. */
  readonly name: string;
  /** What an open finding comes from, or the code of a failure; "" for any. */
  readonly cause: string;
}

/** @throws ProblemError 400 for a state that does not exist. */
export function accountFilter(query: URLSearchParams): AccountFilter {
  return {
    states: query.getAll("state").flatMap((text) => text.split(",").filter(Boolean).map(stateNamed)),
    labels: query.getAll("label").filter(Boolean),
    name: (query.get("name") ?? "").trim(),
    cause: query.get("cause") ?? "",
  };
}

function stateNamed(text: string): AccountState {
  const found = accountStates.find((state) => state === text);
  if (found !== undefined) return found;
  throw new ProblemError({
    status: 400,
    title: "Unknown state",
    detail: `Unknown state ${JSON.stringify(text)}. Use ${accountStates.join(", ")}.${didYouMean(text, accountStates)}`,
  });
}

export const isFiltered = ({ states, labels, name, cause }: AccountFilter): boolean =>
  states.length + labels.length > 0 || name !== "" || cause !== "";

/** The accounts that the filter matches, in their order. */
export async function filtered(
  accounts: readonly AccountSummary[],
  { states, labels, name, cause }: AccountFilter,
  reads: PageReads,
): Promise<readonly AccountSummary[]> {
  const wanted = name.toLowerCase();
  const { items: causes } = cause === "" ? { items: [] } : await reads.causes(ofOneCause, cause);
  const affected = new Set(causes.flatMap((group) => group.accounts));
  return accounts.filter(
    (account) =>
      (states.length === 0 || states.includes(account.state) || (states.includes("exposed") && isExposed(account))) &&
      labels.every((label) => hasLabel(account, label)) &&
      (wanted === "" || account.name.toLowerCase().includes(wanted) || account.source.toLowerCase().includes(wanted)) &&
      (cause === "" || affected.has(account.name) || account.error?.code === cause),
  );
}

// A group for each kind of finding.
const ofOneCause = { offset: 0, limit: 10 };

const hasLabel = (account: AccountSummary, label: string): boolean =>
  Object.hasOwn(account.labels, label) || labelsOf(account).includes(label);

/** "team=sales", sorted by key. */
export const labelsOf = ({ labels }: AccountSummary): readonly string[] =>
  Object.entries(labels)
    .sort(([a], [b]) => byText(a, b))
    .map(([key, value]) => `${key}=${value}`);

/** Sums over accounts. */
export function totalsOf(accounts: readonly AccountSummary[]): Totals {
  const inState = (wanted: AccountState): number => accounts.filter(({ state }) => state === wanted).length;
  const sum = (count: keyof Counts): number => accounts.reduce((total, account) => total + account[count], 0);
  return {
    accounts: accounts.length,
    byState: {
      exposed: inState("exposed"),
      drifted: inState("drifted"),
      failing: inState("failing"),
      stale: inState("stale"),
      suspended: inState("suspended"),
      "in-sync": inState("in-sync"),
      pending: inState("pending"),
    },
    exposedAccounts: accounts.filter(isExposed).length,
    exposedColumns: sum("exposedColumns"),
    policyViolations: sum("policyViolations"),
    differences: sum("differences"),
    manual: sum("manual"),
    unknown: accounts.filter(({ state, isStale, error }) => state === "pending" || isStale || error !== undefined).length,
  };
}

/** Accounts whose last runs failed with the same code: one failed read is one cause. */
export interface FailureGroup {
  readonly code: string;
  /** The first message. */
  readonly message: string;
  readonly since: string | undefined;
  /** Names, sorted. */
  readonly accounts: readonly string[];
}

/** Those of the most accounts first. */
export function failuresOf(accounts: readonly AccountSummary[]): readonly FailureGroup[] {
  const failing = accounts
    .toSorted((a, b) => byText(a.name, b.name))
    .flatMap(({ name, error, lastCheckedAt }) => (error === undefined ? [] : [{ name, since: lastCheckedAt, ...error }]));
  return grouped(failing, ({ code }) => code)
    .map((group) => ({
      code: group[0].code,
      message: group[0].message,
      since: earliest(group.map(({ since }) => since)),
      accounts: group.map(({ name }) => name),
    }))
    .sort((a, b) => b.accounts.length - a.accounts.length || byText(a.code, b.code));
}

/** The first of the times that are known; all are ISO 8601 in UTC. */
export const earliest = (times: readonly (string | undefined)[]): string | undefined =>
  times.filter((time) => time !== undefined).sort()[0];
