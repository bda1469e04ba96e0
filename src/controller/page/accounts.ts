import { byText } from "../../model/address.ts";
import { didYouMean } from "../../text/suggest.ts";
import { type AccountState, type AccountSummary, accountStates } from "../views/status.ts";
import { ProblemError } from "./reply.ts";

/** Which accounts a list shows; the same in the query of the page and of the API. */
export interface AccountFilter {
  /** Empty: any state. */
  readonly states: readonly AccountState[];
  /** "team=sales", or "team" for any value. An account must have all of them. */
  readonly labels: readonly string[];
  /** A part of the name or source, in any case. */
  readonly name: string;
}

/** @throws ProblemError 400 for a state that does not exist. */
export function accountFilter(query: URLSearchParams): AccountFilter {
  return {
    states: query.getAll("state").flatMap((text) => text.split(",").filter(Boolean).map(stateNamed)),
    labels: query.getAll("label").filter(Boolean),
    name: (query.get("name") ?? "").trim(),
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

export const isFiltered = ({ states, labels, name }: AccountFilter): boolean => states.length + labels.length > 0 || name !== "";

export function filtered(accounts: readonly AccountSummary[], { states, labels, name }: AccountFilter): readonly AccountSummary[] {
  const wanted = name.toLowerCase();
  return accounts.filter(
    (account) =>
      (states.length === 0 || states.includes(account.state)) &&
      labels.every((label) => hasLabel(account, label)) &&
      (wanted === "" || account.name.toLowerCase().includes(wanted) || account.source.toLowerCase().includes(wanted)),
  );
}

const hasLabel = (account: AccountSummary, label: string): boolean =>
  Object.hasOwn(account.labels, label) || labelsOf(account).includes(label);

/** "team=sales", sorted by key. */
export const labelsOf = ({ labels }: AccountSummary): readonly string[] =>
  Object.entries(labels)
    .sort(([a], [b]) => byText(a, b))
    .map(([key, value]) => `${key}=${value}`);

/** The worst state first; within a state, most exposed columns, then most differences, then by name. */
export const worstFirst = (accounts: readonly AccountSummary[]): readonly AccountSummary[] =>
  accounts.toSorted(
    (a, b) =>
      accountStates.indexOf(a.state) - accountStates.indexOf(b.state) ||
      b.exposedColumns - a.exposedColumns ||
      b.differences - a.differences ||
      byText(a.name, b.name),
  );

/** Sums over accounts. */
export interface Totals {
  readonly accounts: number;
  readonly byState: Readonly<Record<AccountState, number>>;
  /** Accounts with data that is readable although the manifests or a policy protect it, suspended ones included. */
  readonly exposedAccounts: number;
  readonly exposedColumns: number;
  readonly policyViolations: number;
  readonly differences: number;
  readonly manual: number;
  /** Accounts whose state is not known: failing, stale or pending. */
  readonly unknown: number;
}

export function totalsOf(accounts: readonly AccountSummary[]): Totals {
  const inState = (...states: readonly AccountState[]): number => accounts.filter(({ state }) => states.includes(state)).length;
  const sum = (countOf: (account: AccountSummary) => number): number => accounts.reduce((total, account) => total + countOf(account), 0);
  return {
    accounts: accounts.length,
    byState: {
      ...{ exposed: inState("exposed"), drifted: inState("drifted"), failing: inState("failing"), stale: inState("stale") },
      ...{ suspended: inState("suspended"), "in-sync": inState("in-sync"), pending: inState("pending") },
    },
    exposedAccounts: accounts.filter(isExposed).length,
    exposedColumns: sum(({ exposedColumns }) => exposedColumns),
    policyViolations: sum(({ policyViolations }) => policyViolations),
    differences: sum(({ differences }) => differences),
    manual: sum(({ manual }) => manual),
    unknown: accounts.filter(({ state, isStale, error }) => state === "pending" || isStale || error !== undefined).length,
  };
}

/** A suspended account can be exposed too. */
export const isExposed = ({ state, exposedColumns, policyViolations }: AccountSummary): boolean =>
  state === "exposed" || exposedColumns + policyViolations > 0;
