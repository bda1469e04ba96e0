import pLimit from "p-limit";
import { beforeAll, expect, it } from "vitest";
import { isAll, sampleOf, sampleSeed } from "../support/sample.ts";
import type { ServiceForm } from "../support/service.ts";
import { copyForAll } from "./cli-process.ts";
import { folderStore, type SharedStore, type Store } from "./machines.ts";
import {
  type Disturbance,
  disturb,
  kindOf,
  type Moment,
  type Nth,
  type Outcome,
  recordedFileWrites,
  recordedRequests,
  refusal,
} from "./matrix.ts";
import { canaries } from "./mixed-project.ts";

// One apply and one fault: at each request or write to the records, each way to fail, with each store.
// With records in the folder the next run is on the same machine, with git and PostgreSQL on another
// one. It must finish: the account is as declared, nothing was created twice, and no id is lost.

/** Faults that keep the service from acting. */
export const unsent = [refusal, "reset-before", "status:500", "status:503;retry-after=0", "status:429;retry-after=0", "html"];
/** Faults that keep dimsync from learning that the service acted. */
export const unheard = ["reset-after", "status-after:500", "truncate", "empty", "content-type", "delay:3000"];
export const kills = ["before", "after"] as const;

const groups = ["the service did not execute a request", "a response is lost", "SIGKILL at a request", "SIGKILL at a write to the records"];

/** One fault with one store. */
export interface Case {
  readonly store: Store["name"];
  readonly group: (typeof groups)[number];
  readonly disturbance: Disturbance;
  /** One case of each kind is tried, two if it ends with "twice". */
  readonly kind: string;
}

export const isRead = ({ method }: Nth): boolean => method === "GET";
const isUnsent = (fault: string): boolean => unsent.includes(fault);
const groupOf = (fault: string): string => groups[isUnsent(fault) ? 0 : 1] ?? "";

/** After a read that failed, the run continues or ends in the same way for all kinds. */
export const kindInFolder = (at: Nth): string => (isRead(at) ? "GET" : kindOf(at));

/**
 * Every fault and kill at each request. A commit tries a sixth of the pairs of a fault and a kind of request: each kind with one
 * fault of each group and one kill, and so each fault at a kind or two.
 */
function folderCases(nths: readonly Nth[], form: ServiceForm): readonly Case[] {
  const kinds = [...new Set(nths.map(kindInFolder))];
  const isTried = (fault: number, kind: number, most: number): boolean => isAll || (fault + kind + sampleSeed) % most === 0;
  return nths.flatMap((at, index): readonly Case[] => {
    const kind = kindInFolder(at);
    const kindIndex = kinds.indexOf(kind);
    const common = { store: "folder" as const };
    const tried = [unsent, unheard].flatMap((faults) => faults.filter((_, fault) => isTried(fault, kindIndex, 6)));
    return [
      ...tried.map((fault) => {
        const retries = (index + sampleSeed) % 2;
        return { ...common, group: groupOf(fault), disturbance: { at, fault, retries, form }, kind: `folder ${fault} ${kind}` };
      }),
      ...kills
        .filter((_, kill) => isTried(kill, kindIndex, 2))
        .map((kill) => ({ ...common, group: groups[2] ?? "", disturbance: { at, kill, form }, kind: `folder SIGKILL ${kill} ${kind}` })),
    ];
  });
}

/** Before each operation on a file, and when it is half done. A commit tries every second one, and more of those on the journal. */
async function fileCases(program: string, form: ServiceForm): Promise<readonly Case[]> {
  return (await recordedFileWrites(program, form)).flatMap((at) => {
    const isJournal = /^rename test\.records/u.test(at.operation);
    if (!isAll && !isJournal && (at.nth + sampleSeed) % 2 === 0) return [];
    // The locks of journal and bindings are taken in the same way. Each line of the journal means something else.
    const operation = at.operation.replace(/\S+(?=\.lock\b)/u, "file");
    const kind = isJournal ? `${operation} twice` : operation;
    const moments: readonly Moment[] = /^write|^append/u.test(at.operation) ? ["before", "during"] : ["before"];
    return moments.map((kill): Case => ({ store: "folder", group: groups[3] ?? "", disturbance: { at, kill, form }, kind }));
  });
}

/** On another machine: every fault at the first write of each kind, SIGKILL at each request, and at each push or message to the database. */
function sharedCases(
  nths: readonly Nth[],
  { store, form }: { readonly store: SharedStore["name"]; readonly form: ServiceForm },
): readonly Case[] {
  const firstWrites = nths.filter((at) => !isRead(at) && at.nth === 1);
  return [
    ...[...unsent, ...unheard].flatMap((fault) =>
      firstWrites.map((at, index) => {
        const retries = (index + sampleSeed) % 2;
        return { store, group: groupOf(fault), disturbance: { at, fault, retries, form }, kind: `${store} ${fault}` };
      }),
    ),
    ...kills.flatMap((kill) => [
      ...nths.map((at): Case => {
        return {
          store,
          group: groups[2] ?? "",
          disturbance: { at, kill, form },
          kind: `${isRead(at) ? `${store} SIGKILL GET` : `shared SIGKILL ${kindOf(at)}`}`,
        };
      }),
      ...Array.from({ length: 10 }, (_, index): Case => {
        // Every run has three writes, and some have more.
        const kind = `${store} SIGKILL ${kill} write ${index < 3 ? "early" : "late"}`;
        return { store, group: groups[3] ?? "", disturbance: { at: index + 1, kill, form }, kind };
      }),
    ]),
  ];
}

const sampleFrom = (all: readonly Case[]): readonly Case[] =>
  sampleOf(all, { name: "matrix", kindOf: ({ kind }) => kind, most: (kind) => (kind.endsWith(" twice") ? 2 : 1) });

/** A commit tries one of them. */
const forms: readonly ServiceForm[] = isAll ? ["camel", "observed"] : [sampleSeed % 2 === 0 ? "camel" : "observed"];

/** What the matrix is made of. Read it in tests only: it is recorded before the first of them. */
export interface Matrix {
  readonly program: () => string;
  readonly requests: () => readonly Nth[];
  /** Of the service that the requests were sent to. */
  readonly form: ServiceForm;
  /** The cases that are tried, with all stores. */
  readonly sampled: () => readonly Case[];
}

/** Records, before all tests of a file, what the matrix is made of. */
export function matrixOfFile(): Matrix {
  const program = copyForAll();
  let requests: readonly Nth[] = [];
  let sampled: readonly Case[] = [];
  beforeAll(async () => {
    const cases: Case[] = [];
    for (const form of forms) {
      requests = await recordedRequests(form);
      cases.push(...folderCases(requests, form), ...(await fileCases(program(), form)));
      for (const store of ["git", "postgres"] as const) cases.push(...sharedCases(requests, { store, form }));
    }
    sampled = sampleFrom(cases);
  });
  return { program, requests: () => requests, form: forms.at(-1) ?? "camel", sampled: () => sampled };
}

/** `open`: a store; with `network`, its pushes or messages to the database can be lost, of one apply at a time. */
export function tryStore({ program, sampled }: Matrix, name: Store["name"], open: (network: boolean) => Promise<Store>): void {
  for (const group of groups)
    it(`if ${group}`, async () => {
      const cases = sampled().filter((one) => one.store === name && one.group === group);
      const network = group === groups[3] && name !== "folder";
      const lanes = network ? 2 : 3;
      const stores = await Promise.all(Array.from({ length: network ? lanes : 1 }, () => open(network)));
      const outcomes = await tryEach(cases, { lanes, stores, program: program() });
      const failures = outcomes.flatMap(({ wrong }) => wrong);
      const struck = outcomes.filter((outcome) => outcome.struck).length;
      const asked = outcomes.filter((outcome) => outcome.asked).length;
      console.info(
        `fault matrix, ${name}, ${group}: ${struck} cases, DIMSYNC_TESTS_SEED=${sampleSeed}, ${asked} asked the user, ${failures.length} failures`,
      );
      expect(failures).toEqual([]);
      expect(struck).toBeGreaterThan(0);
      for (const store of stores) expectNoSecret(store);
    });
}

interface Lanes {
  /** How many cases run at once. */
  readonly lanes: number;
  /** Shared by the lanes. */
  readonly stores: readonly Store[];
  readonly program: string;
}

async function tryEach(cases: readonly Case[], { lanes, stores, program }: Lanes): Promise<readonly Outcome[]> {
  const idle = Array.from({ length: lanes }, (_, lane) => stores[lane % stores.length] ?? folderStore);
  return await pLimit(lanes).map(cases, async ({ disturbance }) => {
    const store = idle.pop() ?? folderStore;
    const outcome = await disturb(store, disturbance, program);
    idle.push(store);
    return outcome;
  });
}

function expectNoSecret(store: Store | SharedStore): void {
  if (!("contents" in store)) return;
  const contents = store.contents();
  expect(contents).toContain("Asset/lake");
  const secrets = Object.values(canaries).flatMap((value) => [JSON.stringify(value).slice(1, -1), ...value.split("\n")]);
  expect(secrets.filter((secret) => contents.includes(secret))).toEqual([]);
}
