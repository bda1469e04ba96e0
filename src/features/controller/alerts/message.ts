import { type AlertEvent, type AlertSeverity, alertSeverities, type Receiver } from "../../../core/model/settings/notifications.ts";
import { timeText } from "../../../core/render/report/attribution.ts";
import { counted, durationText } from "../../../core/text/counts.ts";
import { enumerate } from "../../../core/text/describe.ts";
import { andMore, joinParts } from "../../../core/text/lists.ts";
import { wholePath } from "../../../core/text/paths.ts";
import type { Counts, RunError } from "../views/status.ts";
import type { FoundFinding } from "../work/findings.ts";

/** One message: an event of one account, or of several accounts with the same cause. Times are ISO 8601 in UTC. Names in it are text of others. */
export interface AlertMessage {
  /** The same if the message is sent again, because it is not known whether the receiver got it. */
  readonly id: string;
  /** "test" only shows whether a receiver can be reached. */
  readonly event: AlertEvent | "test";
  readonly source: string;
  readonly at: string;
  /** When the first change was made, from the audit log if known, else when it was seen. */
  readonly since: string | null;
  /** "" if there is none. */
  readonly cause: string;
  readonly isReminder: boolean;
  /** What has ended with it. */
  readonly resolves: readonly AlertEvent[];
  /** Sorted by name. Empty if it is about no account. */
  readonly accounts: readonly AlertAccount[];
  /** Of `undelivered`: the receiver that did not accept it. Of `test`: the only one that gets it. */
  readonly receiver?: string | undefined;
  readonly error?: RunError | undefined;
  /** The message that this one repeats. */
  readonly reminds?: string | undefined;
  /** Messages that have ended with this one, for receivers that keep incidents. */
  readonly ended: readonly string[];
  /** Of the status page; absent without --public-url. */
  readonly link?: string | undefined;
}

export interface AlertAccount {
  /** The id of the event of this account. */
  readonly id: string;
  readonly account: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly at: string;
  readonly since: string | null;
  readonly actor: string | null;
  readonly commit: string | null;
  readonly run: string | null;
  readonly counts?: Counts | undefined;
  /** The first ones, worst first. */
  readonly findings: readonly AlertFinding[];
  readonly findingsTotal: number;
  readonly error?: RunError | undefined;
  readonly link?: string | undefined;
}

export interface AlertFinding extends Pick<FoundFinding, "address" | "path" | "risk" | "cause"> {
  readonly actor: string | null;
  readonly since: string;
}

const severities: Readonly<Record<AlertMessage["event"], AlertSeverity>> = {
  exposed: "error",
  drifted: "warning",
  repaired: "warning",
  "protection-stopped": "error",
  failing: "error",
  stale: "error",
  "no-worker": "error",
  "bundle-refused": "error",
  "account-removed": "warning",
  resolved: "info",
  undelivered: "error",
  test: "info",
};

export const severityOf = ({ event }: Pick<AlertMessage, "event">): AlertSeverity => severities[event];

type Routed = Pick<AlertMessage, "event" | "resolves" | "receiver"> & { readonly labels: AlertAccount["labels"] | undefined };

/** Whether the receiver gets the event. What ends an incident follows what has opened it. */
export function isRouted({ event, resolves, labels, receiver: named }: Routed, receiver: Receiver): boolean {
  if (event === "test") return named === undefined || named === receiver.name;
  if (named === receiver.name) return false;
  if (labels !== undefined && Object.entries(receiver.labels ?? {}).some(([name, value]) => labels[name] !== value)) return false;
  const wants = (each: AlertEvent): boolean =>
    receiver.on?.includes(each) !== false &&
    alertSeverities.indexOf(severities[each]) >= alertSeverities.indexOf(receiver.severity ?? "info");
  if (wants(event)) return true;
  if (!resolves.some(wants)) return false;
  // Whoever wants to know that data was exposed, and that it is resolved, wants to know that dimsync has resolved it.
  return receiver.type === "pagerduty" || receiver.on === undefined || receiver.on.includes("resolved");
}

/** What happened, in one line: "2 columns are exposed in prod". */
export function titleOf(message: AlertMessage): string {
  const { accounts, event, resolves, receiver, source, isReminder } = message;
  const [first] = accounts;
  const where = first === undefined ? source : accounts.length === 1 ? first.account : `${accounts.length} accounts of ${source}`;
  const verb = (one: string, many: string): string => (accounts.length > 1 ? many : one);
  const ended = resolves.map((each) => states[each] ?? each);
  const titles: Readonly<Record<AlertMessage["event"], string>> = {
    exposed: `${exposedText(accounts)} in ${where}`,
    drifted: `${where} ${verb("differs", "differ")} from ${verb("its", "their")} manifests`,
    repaired: `dimsync repaired ${counted(findingsIn(accounts), "difference")} in ${where}`,
    "protection-stopped": `dimsync no longer protects ${where}: a change came back after it was reverted three times`,
    failing: `Checks of ${where} fail`,
    stale: `${where} ${verb("was", "were")} not checked within three intervals`,
    "no-worker": `No worker checks the accounts of ${source}`,
    "bundle-refused": `The pushed project of ${where} cannot be used`,
    "account-removed": `${where} ${verb("is", "are")} no longer under control`,
    resolved: `${where} ${verb("is", "are")} no longer ${enumerate(ended, "or")}`,
    undelivered: `The receiver ${receiver ?? ""} did not accept a message within a day`,
    test: `Test of dimsync: this receiver gets the events of ${source}`,
  };
  return `${isReminder ? "Still: " : ""}${titles[event]}`;
}

/** As adjectives of an account. */
const states: Partial<Readonly<Record<AlertEvent, string>>> = {
  drifted: "different from its manifests",
  "protection-stopped": "without protection",
  "no-worker": "without a worker",
  "bundle-refused": "without a usable project",
};

function exposedText(accounts: readonly AlertAccount[]): string {
  const sum = (count: keyof Counts): number => accounts.reduce((total, { counts }) => total + (counts?.[count] ?? 0), 0);
  const columns = sum("exposedColumns");
  return columns > 0
    ? `${counted(columns, "column is", "columns are")} exposed`
    : `${counted(sum("policyViolations"), "violation")} of policies`;
}

const findingsIn = (accounts: readonly AlertAccount[]): number => accounts.reduce((sum, { findingsTotal }) => sum + findingsTotal, 0);

/** A label and a text, which is not safe for any format. */
type Fact = readonly [label: string, text: string];

/** The most important facts: when, who, why, which. */
export function factsOf(message: AlertMessage): readonly Fact[] {
  const { accounts, cause, since, at, event, error } = message;
  const [first] = accounts;
  const names = accounts.map(({ account }) => account);
  const labels = Object.entries(accounts.length === 1 && first !== undefined ? first.labels : {});
  const commits = unique(accounts.map(({ commit }) => commit?.slice(0, 12)));
  const failure = error ?? accounts.find((account) => account.error !== undefined)?.error;
  const facts: readonly Fact[] = [
    ["Accounts", accounts.length > 1 ? andMore(names, "account", { shown: 10 }) : ""],
    ["By", andMore(unique(accounts.map(({ actor }) => actor)), "actor", { shown: 5 })],
    [
      "Since",
      since === null ? "" : `${timeText(since)}${event === "repaired" ? `, for ${durationText(Date.parse(at) - Date.parse(since))}` : ""}`,
    ],
    ["Cause", cause],
    ["Error", failure === undefined ? "" : `${failure.code}: ${failure.message}`],
    ["Commit", andMore(commits, "commit")],
    ["Labels", labels.map(([name, value]) => `${name}=${value}`).join(", ")],
  ];
  return facts.filter(([, text]) => text !== "");
}

const unique = (texts: readonly (string | null | undefined)[]): readonly string[] => [
  ...new Set(texts.filter((text) => typeof text === "string")),
];

/** What is affected, worst first: "Schemas/orders public.users.email hashed (dana@example.com)". */
export function findingLines({ accounts }: AlertMessage, most: number): { readonly lines: readonly string[]; readonly rest: number } {
  const several = accounts.length > 1;
  const lines = accounts.flatMap(({ account, findings }) =>
    findings.map(({ address, path, actor }) =>
      joinParts([several ? `${account}:` : "", address, wholePath(path), actor === null ? "" : `(${actor})`], " "),
    ),
  );
  return { lines: lines.slice(0, most), rest: findingsIn(accounts) - Math.min(lines.length, most) };
}
