import { toPointer } from "../../../../src/core/model/json/pointer.ts";
import type { PageReads } from "../../../../src/features/controller/page/reads.ts";
import { worstFirst } from "../../../../src/features/controller/views/accounts.ts";
import type { ControllerMetrics } from "../../../../src/features/controller/views/health.ts";
import {
  type AccountDetail,
  type AccountState,
  type AccountSummary,
  accountStates,
  type BundleDetail,
  type CauseGroup,
  type ClosedGroup,
  type Day,
  type Finding,
  type Part,
  type Range,
  type RunDetail,
  type RunSummary,
  type Suspension,
} from "../../../../src/features/controller/views/status.ts";
import { tracedReport } from "../../../core/render/html-report.ts";
import { fullResult } from "../../../core/render/results.ts";

/** The time of all tests. */
export const now = new Date("2026-03-01T09:00:00.000Z");

const minute = 60_000;
const day = 86_400_000;
export const before = (ms: number): string => new Date(now.getTime() - ms).toISOString();

export const bundle: BundleDetail = {
  digest: `sha256:${"4f2c1ab09d3e77aa".repeat(4)}`,
  source: "https://git.example.com/data/accounts",
  commit: "4f2c1ab09d3e77aa10b2c3d4e5f60718293a4b5c",
  toolVersion: "0.1.0",
  pushedBy: "ci@example.com",
  pushedAt: before(3 * day),
  bytes: 18_204,
  accounts: ["prod", "shop-eu"],
  files: [
    { path: "dimsync.yaml", text: "apiVersion: dimsync/v1\nkind: Config\n" },
    { path: "manifests/<pii>.yaml", text: "kind: Policy # </pre><script>alert(1)</script>\n" },
  ],
};

export const suspension: Suspension = {
  reason: "Migration of the warehouse, CHG-1204",
  until: before(-5 * 3_600_000),
  by: "dana@example.com",
  at: before(day),
};

/** An account that is in sync, with some members replaced. */
export function account(members: Partial<AccountSummary> = {}): AccountSummary {
  return {
    name: members.target ?? "prod",
    source: bundle.source,
    target: "prod",
    labels: { team: "sales" },
    state: "in-sync",
    mode: "report",
    everyMs: 15 * minute,
    intervalMs: 15 * minute,
    exposedColumns: 0,
    differences: 0,
    manual: 0,
    policyViolations: 0,
    lastCheckedAt: before(4 * minute),
    nextCheckAt: before(-11 * minute),
    isStale: false,
    lastRun: "run-0001",
    digest: bundle.digest,
    ...(bundle.commit === undefined ? {} : { commit: bundle.commit }),
    isCurrent: true,
    ...members,
  };
}

const { lastCheckedAt: _, lastRun: __, ...unchecked } = account();

/** What an account of each state has besides. */
const byState: Readonly<Record<AccountState, (index: number) => Partial<AccountSummary>>> = {
  exposed: (index) => ({
    exposedColumns: 1 + ((index * 7) % 41),
    differences: 3 + ((index * 7) % 60),
    manual: index % 3,
    policyViolations: index % 2,
  }),
  drifted: (index) => ({ differences: 1 + (index % 20), manual: index % 4 }),
  failing: () => ({
    error: {
      code: "E_UNAUTHORIZED",
      message: "GET /v1/integrations: the service refused the API key (401). Renew the key in the worker's environment.",
    },
    lastCheckedAt: before(26 * minute),
  }),
  stale: () => ({ isStale: true, lastCheckedAt: before(3 * 3_600_000), nextCheckAt: before(2 * 3_600_000) }),
  suspended: () => ({ suspension }),
  "in-sync": (index) => (index % 5 === 0 ? { running: { run: "run-9", worker: "worker-1", since: before(4000) } } : {}),
  pending: () => ({}),
};

const regions = ["eu-west", "us-east", "ap-south"];
const teams = ["sales", "finance", "logistics", "data-platform"];

/** `count` accounts in all states; most are in sync. */
export const accountsOf = (count: number): readonly AccountSummary[] =>
  Array.from({ length: count }, (_unused, index) => {
    const state = index % 3 === 2 && count > 10 ? "in-sync" : (accountStates[index % accountStates.length] ?? "in-sync");
    const name =
      index === 3
        ? "a-very-long-name-of-an-account-of-the-subsidiary-in-the-north-western-region-01"
        : `shop-${regions[index % 3]}-${String(index).padStart(3, "0")}`;
    const members = {
      ...byState[state](index),
      state,
      target: name,
      labels: { team: teams[index % 4] ?? "", region: regions[index % 3] ?? "" },
      mode: (["report", "protect", "apply"] as const)[index % 3] ?? "report",
      isCurrent: index % 9 !== 0,
    };
    return state === "pending" ? { ...unchecked, ...members, name } : account(members);
  });

const column = (table: string, name: string): string => toPointer(["schemas", "public", "tables", table, "columns", name, "hashed"]);

export const findings: readonly Finding[] = [
  ...["email", "phone", "billing_email"].map(
    (name, index): Finding => ({
      id: index,
      kind: "change",
      address: "Schemas/orders",
      path: column("customers", name),
      risk: "exposed",
      cause: "SchemaConfig/shops, rule pii-email",
      detail: {
        actual: false,
        desired: true,
        cause: { rule: "pii-email", reason: "GDPR register 12", file: "manifests/pii.yaml", line: 9 },
        attribution: {
          actor: "dana@example.com",
          at: before(50 * minute),
          confidence: "exact",
          event: 'Schema configuration of integration 8f1c "Orders" changed',
        },
      },
      openedAt: before(49 * minute),
      openedRun: "run-0002",
      since: before(50 * minute),
      actor: "dana@example.com",
    }),
  ),
  {
    id: 9,
    kind: "manual",
    address: "Integration/orders",
    path: "/paused",
    risk: "neutral",
    cause: "Integration/orders /paused",
    detail: { actual: true, desired: false, text: "Resume the integration in the service." },
    openedAt: before(12 * day),
    openedRun: "run-0003",
    since: before(12 * day),
  },
  {
    id: 10,
    kind: "policy",
    address: "Schemas/orders",
    path: column("customers", "email"),
    risk: "error",
    cause: "pii-must-be-hashed",
    detail: { policy: "pii-must-be-hashed", text: "personal data would be copied unhashed" },
    openedAt: before(49 * minute),
    openedRun: "run-0002",
    since: before(49 * minute),
  },
];

export const run: RunSummary = {
  id: "run-0001",
  account: "prod",
  reason: "schedule",
  mode: "report",
  worker: "worker-1.internal:4711",
  startedAt: before(4 * minute + 2300),
  finishedAt: before(4 * minute),
  exit: { code: 3, reasons: ["policy", "drift"] },
  exposedColumns: 3,
  differences: 4,
  manual: 1,
  policyViolations: 1,
  changesSent: 0,
  ...(bundle.commit === undefined ? {} : { commit: bundle.commit }),
  digest: bundle.digest,
  calls: { GET: 41 },
};

/** 60 runs, newest first; one failed. */
export const runs: readonly RunSummary[] = Array.from({ length: 60 }, (_unused, index) => ({
  ...run,
  id: `run-${String(index + 1).padStart(4, "0")}`,
  startedAt: before((4 + 15 * index) * minute + 2300),
  finishedAt: before((4 + 15 * index) * minute),
  ...(index === 5
    ? { exit: { code: 1, reasons: ["errors"] }, error: { code: "E_TIMEOUT", message: "GET /v1/tags: no response within 30 s." } }
    : {}),
  ...(index > 6 ? { exit: { code: 0, reasons: [] }, exposedColumns: 0, differences: 0, manual: 0 } : {}),
}));

export const timeline: readonly Day[] = Array.from({ length: 80 }, (_unused, index) => index)
  .filter((index) => index < 30 || index > 34)
  .map((index) => ({
    day: before((79 - index) * day).slice(0, 10),
    checks: 96,
    failures: index % 17 === 0 ? 2 : 0,
    exposedColumns: index > 20 && index < 40 ? 12 : index > 60 && index < 66 ? 31 : index > 77 ? 3 : 0,
    differences: index % 9,
    manual: index % 2,
    opened: index % 11 === 0 ? index % 7 : index === 61 ? 31 : 0,
    closed: index % 13 === 0 ? index % 5 : index === 66 ? 31 : 0,
    changesSent: 0,
    durationMs: 96 * 2300,
  }));

export const detail = (members: Partial<AccountDetail> = {}): AccountDetail => ({
  ...account({ state: "exposed", exposedColumns: 3, differences: 4, manual: 1, policyViolations: 1, ...members }),
  findings,
  timeline,
  runs: runs.slice(0, 50),
  suspensions: [{ ...suspension, until: before(day), resumedAt: before(2 * day), resumedBy: "lee@example.com", at: before(3 * day) }],
  acknowledgements: [],
  events: findings.flatMap(({ id, kind, address, path, risk, detail: found, openedAt, actor }) => [
    {
      finding: id,
      event: "opened" as const,
      at: openedAt,
      run: "run-0002",
      ...(actor === undefined ? {} : { actor }),
      kind,
      address,
      path,
      risk,
      detail: found,
    },
    { finding: id + 50, event: "closed" as const, at: before(20 * day), run: "run-0004", kind, address, path, risk, detail: found },
  ]),
  ...members,
});

/** The findings of the accounts by cause, as many causes as `count`. */
export const causesOf = (accounts: readonly AccountSummary[], count = 12): readonly CauseGroup[] => {
  const names = accounts.map(({ name }) => name);
  return Array.from({ length: names.length === 0 ? 0 : count }, (_unused, index) => ({
    cause: index === 0 ? "SchemaConfig/shops, rule pii-email" : `SchemaConfig/shops, rule ${index}`,
    kind: index === 3 ? ("policy" as const) : ("change" as const),
    risk: index < 2 ? ("exposed" as const) : index === 3 ? ("error" as const) : ("neutral" as const),
    findings: 640 - index * 40,
    accounts: names.slice(0, Math.max(1, 40 - index * 7)),
    openedAt: before((index + 1) * 3 * 3_600_000),
    since: before((index + 1) * 3 * 3_600_000 + 5 * minute),
    actors: index === 2 ? [] : ["dana@example.com", "lee@example.com", "max@example.com"].slice(0, (index % 3) + 1),
    example: { address: "Schemas/orders", path: column("customers", "email"), detail: findings[0]?.detail ?? {} },
  }));
};

/** What was closed in the last 24 hours: the first by dimsync. */
export const closedOf = (accounts: readonly AccountSummary[], count = 3): readonly ClosedGroup[] =>
  causesOf(accounts, count).map((group, index) => ({
    ...group,
    findings: index + 1,
    accounts: group.accounts.slice(0, index + 1),
    closedAt: before((index + 1) * 41 * minute),
    since: before((index + 1) * 41 * minute + 4 * minute),
    closedRun: "run-0005",
    openMs: (index + 1) * 4 * minute,
    longestOpenMs: 4 * minute,
    isRepaired: index === 0,
  }));

/** As the database reads it. */
export const partOf = <T>(all: readonly T[], { offset, limit }: Range = { offset: 0, limit: 200 }): Part<T> => ({
  items: all.slice(offset, offset + limit),
  total: all.length,
});

const worker = { id: "worker-1", isStuck: false, checks: [] };

const metricsOf = (accounts: readonly AccountSummary[]): ControllerMetrics => ({
  accounts,
  queue: { due: 3, running: 8, overdue: 0 },
  workers: [worker],
  receivers: [],
  counters: [
    { name: "lease_losses", label: "", value: 2 },
    { name: "run_seconds", label: "", value: 1204.5 },
    { name: "runs", label: "0", value: 900 },
    { name: "runs", label: "2", value: 61 },
  ],
});

export const runDetail: RunDetail = { ...run, report: tracedReport, result: fullResult };

/** A controller with these accounts. The details of each account are the same but for its summary. */
export function worldOf(accounts: readonly AccountSummary[], members: Partial<PageReads> = {}): PageReads {
  return {
    accounts: async () => worstFirst(accounts),
    account: async (name) => {
      const found = accounts.find((each) => each.name === name || `${each.source}/${each.target}` === name);
      if (found === undefined) return undefined;
      const isOpen = found.exposedColumns + found.differences > 0;
      return {
        ...detail(),
        ...found,
        ...(isOpen ? {} : { findings: [] }),
        ...(found.state === "pending" ? { timeline: [], runs: [], events: [], suspensions: [] } : {}),
      };
    },
    runs: async (name, { offset, limit }) => runs.slice(offset, offset + limit).map((each) => ({ ...each, account: name })),
    run: async (id) => (id === run.id ? { ...runDetail, account: accounts[0]?.name ?? "prod" } : undefined),
    bundle: async (digest) =>
      digest === bundle.digest ? { ...bundle, accounts: accounts.map(({ name }) => name).slice(0, 60) } : undefined,
    causes: async (range, cause) =>
      partOf(
        causesOf(accounts).filter((group) => cause === undefined || group.cause === cause),
        range,
      ),
    closed: async (range) => partOf(closedOf(accounts), range),
    metrics: async () => metricsOf(accounts),
    workers: async () => ({ workers: [worker], overdue: 0 }),
    receivers: async () => [],
    storageFailure: () => undefined,
    ready: async () => undefined,
    ...members,
  };
}
