import pLimit from "p-limit";
import { beforeAll, describe, expect, it } from "vitest";
import { postgresOfSuite } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { sampleOf, sampleSeed } from "../support/sample.ts";
import { copyForAll } from "./cli-process.ts";
import { folderStore, gitStore, postgresStore, type SharedStore, type Store } from "./machines.ts";
import { type Disturbance, disturb, kindOf, type Moment, type Nth, recordedFileWrites, recordedRequests, refusal } from "./matrix.ts";
import { canaries } from "./mixed-project.ts";

// One apply and one fault: at each request or write to the records, each way to fail, with each store.
// With records in the folder the next run is on the same machine, with git and PostgreSQL on another
// one. It must finish: the account is as declared, nothing was created twice, and no id is lost.

/** Faults that keep the service from acting. */
const unsent = [refusal, "reset-before", "status:500", "status:503;retry-after=0", "status:429;retry-after=0", "html"];
/** Faults that keep dimsync from learning that the service acted. */
const unheard = ["reset-after", "status-after:500", "truncate", "empty", "content-type", "delay:3000"];
const kills = ["before", "after"] as const;

const groups = ["the service did not execute a request", "a response is lost", "SIGKILL at a request", "SIGKILL at a write to the records"];

interface Case {
  readonly store: Store["name"];
  readonly group: (typeof groups)[number];
  readonly disturbance: Disturbance;
  /** One case of each kind is tried, two if it ends with "twice". */
  readonly kind: string;
}

const program = copyForAll();
const postgres = postgresOfSuite();
let all: readonly Case[] = [];
let requests: readonly Nth[] = [];
beforeAll(async () => {
  requests = await recordedRequests();
  all = [...folderCases(requests), ...(await fileCases()), ...sharedCases(requests, "git"), ...sharedCases(requests, "postgres")];
}, 120_000);

const isRead = ({ method }: Nth): boolean => method === "GET";
const isUnsent = (fault: string): boolean => unsent.includes(fault);
const groupOf = (fault: string): string => groups[isUnsent(fault) ? 0 : 1] ?? "";

/** Every fault and kill at each request. After a read that failed, the run continues or ends in the same way for all kinds. */
function folderCases(nths: readonly Nth[]): readonly Case[] {
  return nths.flatMap((at, index): readonly Case[] => {
    const kind = isRead(at) ? "GET" : kindOf(at);
    return [
      ...[...unsent, ...unheard].map((fault) => {
        const retries = (index + sampleSeed) % 2;
        return { store: "folder" as const, group: groupOf(fault), disturbance: { at, fault, retries }, kind: `folder ${fault} ${kind}` };
      }),
      ...kills.map((kill) => {
        return { store: "folder" as const, group: groups[2] ?? "", disturbance: { at, kill }, kind: `folder SIGKILL ${kill} ${kind}` };
      }),
    ];
  });
}

/** Before each operation on a file, and when it is half done. */
async function fileCases(): Promise<readonly Case[]> {
  return (await recordedFileWrites(program())).flatMap((at) => {
    // The locks of journal and bindings are taken in the same way. Each line of the journal means something else.
    const operation = at.operation.replace(/\S+(?=\.lock\b)/u, "file");
    const kind = /^(?:write|sync) journal\.ndjson/u.test(operation) ? `${operation} twice` : operation;
    const moments: readonly Moment[] = /^write|^append/u.test(at.operation) ? ["before", "during"] : ["before"];
    return moments.map((kill): Case => ({ store: "folder", group: groups[3] ?? "", disturbance: { at, kill }, kind }));
  });
}

/** On another machine: every fault at the first write of each kind, SIGKILL at each request, and at each push or message to the database. */
function sharedCases(nths: readonly Nth[], store: SharedStore["name"]): readonly Case[] {
  const firstWrites = nths.filter((at) => !isRead(at) && at.nth === 1);
  return [
    ...[...unsent, ...unheard].flatMap((fault) =>
      firstWrites.map((at, index) => {
        const retries = (index + sampleSeed) % 2;
        return { store, group: groupOf(fault), disturbance: { at, fault, retries }, kind: `${store} ${fault}` };
      }),
    ),
    ...kills.flatMap((kill) => [
      ...nths.map((at): Case => {
        return {
          store,
          group: groups[2] ?? "",
          disturbance: { at, kill },
          kind: `${isRead(at) ? `${store} SIGKILL GET` : `shared SIGKILL ${kindOf(at)}`}`,
        };
      }),
      ...Array.from({ length: 10 }, (_, index): Case => {
        // Every run has three writes, and some have more.
        const kind = `${store} SIGKILL ${kill} write ${index < 3 ? "early" : "late"}`;
        return { store, group: groups[3] ?? "", disturbance: { at: index + 1, kill }, kind };
      }),
    ]),
  ];
}

const sampled = (): readonly Case[] =>
  sampleOf(all, { name: "matrix", kindOf: ({ kind }) => kind, most: (kind) => (kind.endsWith(" twice") ? 2 : 1) });

/** `network`: pushes and messages to the database can be lost, of one apply at a time. */
const stores: Readonly<Record<Store["name"], (network: boolean) => Promise<Store>>> = {
  folder: async () => folderStore,
  git: gitStore,
  postgres: (network) => postgresStore(postgres, network),
};

async function tryEach(cases: readonly Case[], name: Store["name"], network: boolean): Promise<void> {
  const lanes = network ? 2 : 3;
  const open = network ? await Promise.all(Array.from({ length: lanes }, () => stores[name](true))) : [await stores[name](false)];
  const idle = Array.from({ length: lanes }, (_, lane) => open[lane % open.length] ?? folderStore);
  const outcomes = await pLimit(lanes).map(cases, async ({ disturbance }) => {
    const store = idle.pop() ?? folderStore;
    const outcome = await disturb(store, disturbance, program());
    idle.push(store);
    return outcome;
  });
  const struck = outcomes.filter((outcome) => outcome.struck);
  const failures = outcomes.flatMap(({ wrong }) => wrong);
  console.info(
    `fault matrix, ${name}, ${cases[0]?.group}: ${struck.length} cases, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
      `${outcomes.filter(({ asked }) => asked).length} asked the user, ${failures.length} failures`,
  );
  expect(failures).toEqual([]);
  expect(struck.length).toBeGreaterThan(0);
  for (const store of open) expectNoSecret(store);
}

function expectNoSecret(store: Store | SharedStore): void {
  if (!("contents" in store)) return;
  const contents = store.contents();
  expect(contents).toContain("Asset/lake");
  const secrets = Object.values(canaries).flatMap((value) => [JSON.stringify(value).slice(1, -1), ...value.split("\n")]);
  expect(secrets.filter((secret) => contents.includes(secret))).toEqual([]);
}

for (const name of ["folder", "git", "postgres"] as const)
  describe(`the records are in ${name}: a later run finishes`, name === "postgres" ? needs("postgresql") : {}, () => {
    for (const group of groups)
      it(`if ${group}`, { timeout: 600_000 }, async () => {
        const cases = sampled().filter((one) => one.store === name && one.group === group);
        await tryEach(cases, name, group === groups[3] && name !== "folder");
      });
  });

it("every kind of request and every fault is tried, and each kind of write to the records", () => {
  const kinds = new Set(sampled().map(({ kind }) => kind));
  for (const fault of [...unsent, ...unheard, ...kills.map((kill) => `SIGKILL ${kill}`)])
    for (const request of requests) expect(kinds).toContain(`folder ${fault} ${isRead(request) ? "GET" : kindOf(request)}`);
  expect([...kinds].filter((kind) => kind.includes("journal.ndjson")).length).toBeGreaterThan(2);
  // Two for early and late writes at each moment, and one for requests that read.
  expect([...kinds].filter((kind) => /^(?:git|postgres) /u.test(kind))).toHaveLength(
    2 * (unsent.length + unheard.length + 2 * kills.length + 1),
  );
});

it("a create is not sent again before the service allows it", { timeout: 300_000 }, async () => {
  const posts = requests.filter(({ method, nth }) => method === "POST" && nth === 1);
  const fault = "status:429;retry-after=1";
  const outcomes = await pLimit(3).map(posts, (at) => disturb(folderStore, { at, fault, retries: 1 }, program()));
  expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(outcomes.filter(({ asked }) => asked)).toEqual([]);
  expect(posts.length).toBeGreaterThanOrEqual(3);
});
