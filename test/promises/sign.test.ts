// What protects and what exposes is right, judged from the account alone. The words and counts of dimsync are compared with what an
// independent reader of the account and the manifests counts; they are never taken as the truth.
import { describe, expect, test } from "vitest";
import type { AccountState } from "../../src/embedded/index.ts";
import { apply, drift, eachChange, type Plan, plan, type Result, renderers, stepsOf } from "../../src/index.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import { accountOf, columnOf, leavesOf, readableColumns, without } from "./account.ts";
import { type InProcess, type Processes, repair, withCommandLine, withLibrary } from "./run.ts";
import { changedBy, isKept, mirrored, mirroredWorlds, type Wanted, type World, wantedChanges, world } from "./world.ts";

interface Expected {
  readonly changes: ReadonlyMap<string, Wanted>;
  readonly protects: number;
  readonly exposes: number;
  /** Columns that are readable after all changes and were not, as far as the service shows it. */
  readonly readable: number;
}

function expectedOf(given: World): Expected {
  const changes = wantedChanges(given);
  const protects = [...changes.values()].filter((one) => one.protects).length;
  const shown = leavesOf(given.account, "shown");
  const readable = without(readableColumns(changedBy(shown, changes.values())), readableColumns(shown)).length;
  return { changes, protects, exposes: changes.size - protects, readable };
}

const words = { Plan: ["protects", "exposes"], DriftReport: ["exposed", "stricter"] } as const;

/** The changes with their words, by place. */
function saidOf(all: readonly Pick<Result["steps"][number], "liveId" | "changes">[]): Readonly<Record<string, string>> {
  const said: Record<string, string> = {};
  for (const item of all)
    for (const { path, field, before, after, risk } of eachChange(item)) {
      // "/schemas/public/tables/users/columns/email/hashed" has a name at each second place.
      const node = path.split("/").filter((_, index) => index > 0 && index % 2 === 0);
      said[[item.liveId, ...node, field].join("/")] = `${before} → ${after}: ${risk}`;
    }
  return said;
}

/** The places of the values in the bodies of the requests. */
function sentBy({ liveId, requests }: Plan["steps"][number]): readonly string[] {
  const placesIn = (body: object, place: string): readonly string[] =>
    Object.entries(body).flatMap(([name, value]) => {
      const isMap = name === "schemas" || name === "tables" || name === "columns";
      return typeof value === "object" ? placesIn(value, isMap ? place : `${place}/${name}`) : [`${place}/${name}`];
    });
  return requests.flatMap(({ body = {} }) => placesIn(body as object, liveId ?? "")); // the body of a PATCH
}

const shouldSay = (changes: Iterable<readonly [string, Wanted]>, kind: Plan["kind"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(changes, ([key, { leaf, after, protects }]) => [key, `${leaf.value} → ${after}: ${words[kind][protects ? 0 : 1]}`]),
  );

const only = (all: Expected["changes"], isProtecting: boolean): Expected["changes"] =>
  new Map([...all].filter(([, { protects }]) => protects === isProtecting));

/** The sum of "N columns become readable" in a text. */
const readableIn = (text: string): number =>
  [...text.matchAll(/(\d+) columns?\s+becomes?\s+readable/gu)].reduce((sum, [, count]) => sum + Number(count), 0);

/** What the heading counts: "3 changes, 1 exposes, 2 protect", "2 changes, all protect", "1 change, which protects"; "2 exposed: …", "a1 t.c readable". */
function countsIn(text: string, kind: Plan["kind"]): readonly number[] {
  const [heading = ""] = /^[\s\S]*?\n(?=\n|$)/u.exec(text) ?? [];
  const flat = heading.replaceAll(/\s+/gu, " ");
  const countOf = (pattern: RegExp): number => Number(pattern.exec(flat)?.[1] ?? 0);
  if (kind === "DriftReport") return [countOf(/(\d+) exposed: /u) || Number(/ (?:readable|exposed)\b/u.test(flat))];
  const all = / changes?, (?:all protect|which protects)/u.test(flat) ? countOf(/(\d+) changes?,/u) : 0;
  return [all + countOf(/(\d+) protects?\b/u), countOf(/(\d+) exposes?\b/u)];
}

/** Every word and count of a plan or a drift report. */
function checkWords(given: World, made: Plan): void {
  const { changes, protects, exposes, readable } = expectedOf(given);
  const isPlan = made.kind === "Plan";
  expect(made.findings.filter(({ summary, severity }) => summary !== undefined && severity === "error")).toEqual([]);
  expect(saidOf(stepsOf(made, "ready"))).toEqual(shouldSay(changes, made.kind));
  expect(made.counts).toMatchObject(isPlan ? { protects, exposes } : { exposed: protects, stricter: exposes });
  expect(stepsOf(made, "ready").reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0)).toBe(readable);
  if (given.entries === "changed") expect(stepsOf(made, "ready").flatMap(sentBy).sort()).toEqual([...changes.keys()].sort());
  const texts = [true, false].flatMap((verbose) =>
    [renderers.human, renderers.markdown].map((render) => render(made, { color: false, verbose })),
  );
  for (const text of texts) {
    expect(readableIn(text)).toBe(isPlan ? readable : 0);
    expect(countsIn(text, made.kind)).toEqual(isPlan ? [protects, exposes] : [protects]);
  }
  const isRefused = readable > given.maxExposedColumns;
  expect(made.findings.flatMap(({ rule, guard }) => (guard === undefined ? [] : [[rule, guard.actual]]))).toEqual(
    isRefused ? [["maxExposedColumns", readable]] : [],
  );
  expect(made.exit.code).toBe(isRefused ? 3 : changes.size > 0 ? 2 : 0);
}

/** The account has these changes and no others. */
function checkSent(given: World, after: AccountState, changes: Expected["changes"]): void {
  const stored = leavesOf(given.account, "stored");
  expect([...leavesOf(after, "stored").values()]).toEqual([...changedBy(stored, changes.values()).values()]);
}

const readableBeforeAndAfter = (given: World, after: AccountState) =>
  [readableColumns(leavesOf(given.account, "stored")), readableColumns(leavesOf(after, "stored"))] as const;

/** After a run that only protects: nothing is readable that was not, and nothing that is kept is readable. */
function checkProtected(given: World, account: AccountState): void {
  const [before, after] = readableBeforeAndAfter(given, account);
  expect(without(after, before), "readable and was not").toEqual([]);
  expect(
    [...after].filter((column) => isKept(given, column.split("/"))),
    "kept and readable",
  ).toEqual([]);
}

async function checkProtectOnly(given: World, running: InProcess): Promise<void> {
  const { project, env, account } = running;
  const { changes, exposes } = expectedOf(given);
  const planned = await plan(project, { env, protectOnly: true });
  expect(saidOf(stepsOf(planned, "ready"))).toEqual(shouldSay(only(changes, true), "Plan"));
  expect(planned.counts).toMatchObject({ protects: changes.size - exposes, exposes: 0 });
  expect(planned.findings.filter(({ guard }) => guard !== undefined)).toEqual([]);
  checkHeld(given, planned);
  const result = await repair(running);
  checkSent(given, account(), only(changes, true));
  checkProtected(given, account());
  checkHeld(given, result);
  expect(result.exit.code).toBe(exposes > 0 ? 4 : 0);
  const again = await plan(project, { env });
  expect(saidOf(stepsOf(again, "ready"))).toEqual(shouldSay(only(changes, false), "Plan"));
}

function checkHeld(given: World, made: Pick<Result, "steps">): void {
  expect(saidOf(stepsOf(made, "held"))).toEqual(shouldSay(only(expectedOf(given).changes, false), "Plan"));
}

const allow = new Map([["maxExposedColumns", "test"]]);

async function checkApply(given: World, { project, env, account }: InProcess, options: { readonly saved?: Plan }): Promise<void> {
  const { changes, readable } = expectedOf(given);
  const result = await apply(project, { env, allow, ...options });
  expect(result.exit).toEqual({ code: 0, reasons: [] });
  expect(saidOf(stepsOf(result, "ready"))).toEqual(shouldSay(changes, "Plan"));
  checkSent(given, account(), changes);
  // If the service shows everything, what was counted is what became readable.
  const [before, after] = readableBeforeAndAfter(given, account());
  if (given.form === "camel") expect(without(after, before)).toHaveLength(readable);
}

/** A table that is switched on: with columns that no rule matches, with literal columns as they are, and with one of unknown value. */
const tableWorlds = [[], ["email", "phone"], undefined].map((literals): World => {
  const columns = {
    email: { ...columnOf("email", { enabled: literals !== undefined, hashed: false }), unshown: literals === undefined ? ["hashed"] : [] },
    phone: columnOf("phone", { enabled: true, hashed: true }),
  };
  const customers = { nameInDestination: "customers", enabled: literals === undefined, syncMode: "incremental", columns };
  const table = { match: [["public"], ["customers"]], set: { enabled: true } };
  const email = { match: [["public"], ["customers"], ["email"]], set: { enabled: true } };
  const asTheyAre = (literals ?? []).map((name) => ({
    path: ["public", "customers", name],
    set: { enabled: true, hashed: name === "phone" },
  }));
  return {
    account: accountOf({ a1: { public: { nameInDestination: "shop", enabled: true, tables: { customers } } } }),
    configs: [{ of: "a1", rules: [literals === undefined ? email : table], literals: asTheyAre, unmatched: {} }],
    ...{ form: literals === undefined ? "observed" : "camel", entries: "changed", maxExposedColumns: 0 },
  };
});

/** So many changes that a plan groups them by rule. */
function wideWorld(): World {
  const names = Array.from({ length: 40 }, (_, index) => `c${index}`);
  const columns = Object.fromEntries(names.map((name) => [name, columnOf(name, { enabled: true, hashed: true })]));
  const customers = { nameInDestination: "customers", enabled: true, syncMode: "incremental", columns };
  return {
    account: accountOf({ a1: { public: { nameInDestination: "shop", enabled: true, tables: { customers } } } }),
    configs: [{ of: "a1", rules: [{ match: [["public"], undefined, names], set: { hashed: false } }], literals: [], unmatched: {} }],
    ...{ form: "camel", entries: "changed", maxExposedColumns: 40 },
  };
}

/** What runs after a plan: each case takes one of them, and another commit takes others. */
const entrances: Readonly<Record<string, (given: World, running: InProcess) => Promise<void>>> = {
  drift: async (given, { project, env }) => checkWords(given, await drift(project, { env, attribution: false })),
  "a run that only protects": checkProtectOnly,
  apply: async (given, running) => checkApply(given, running, {}),
  "a saved plan": async (given, running) => checkApply(given, running, { saved: await plan(running.project, { env: running.env, allow }) }),
};

test("the words, counts and requests of every run are those that an independent reader of the account expects", async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.constantFrom(...Object.keys(entrances)), async (given, entrance) => {
      await withLibrary(given, async (running) => {
        const { project, env } = running;
        expect(project.problems.filter(({ severity }) => severity === "error")).toEqual([]);
        checkWords(given, await plan(project, { env }));
        await entrances[entrance]?.(given, running);
      });
    }),
    {
      numRuns: runs(60, 10_000),
      examples: [...mirroredWorlds, ...tableWorlds, wideWorld()].flatMap((given) =>
        Object.keys(entrances).map((entrance): [World, string] => [given, entrance]),
      ),
    },
  );
});

test("what neither protects nor exposes is held by a run that only protects", async () => {
  const { configs, ...others } = mirrored("email", "phone");
  const modes = [{ path: ["public", "customers"], set: { syncMode: "Full Refresh" } }];
  const given: World = { ...others, form: "observed", configs: configs.map((one) => ({ ...one, literals: modes })) };
  const modeOf = (account: AccountState) => account.integrations[0]?.schemas["public"]?.tables["customers"]?.syncMode;
  await withLibrary(given, async (running) => {
    expect(saidOf(stepsOf(await repair(running), "held"))).toMatchObject({
      "a1/public/customers/syncMode": expect.stringMatching(/ → Full Refresh: neutral$/u),
    });
    checkSent(given, running.account(), only(wantedChanges(given), true));
    expect(modeOf(running.account())).toBe(modeOf(given.account));
  });
});

describe.each([
  ["email", "phone"],
  ["phone", "email"],
] as const)("%s is unhashed, %s is off, and the rule says hashed and enabled", (unhashed, off) => {
  const given = mirrored(unhashed, off);
  const all = wantedChanges(given);
  const [hash, enable] = [`a1/public/customers/${unhashed}/hashed`, `a1/public/customers/${off}/enabled`];
  const planned = { [hash]: "false → true: protects", [enable]: "false → true: exposes" };
  const inProcesses = (use: (processes: Processes) => void) => () => withCommandLine(given, use);
  const savedIn = ({ read }: Processes): Plan => JSON.parse(read("plan.json"));

  test(
    "plan says so, and --fail-on exposes fails",
    inProcesses((processes) => {
      const { code, stdout } = processes.run("plan", "--fail-on", "exposes", "--out", "plan.json");
      expect(code).toBe(2);
      expect(saidOf(stepsOf(savedIn(processes), "ready"))).toEqual(planned);
      for (const text of ["2 changes, 1 exposes, 1 protects", "Exit 2 (exposes)"]) expect(stdout).toContain(text);
      expect(stdout).toMatch(new RegExp(`^  hash +customers\\.${unhashed} `, "mu"));
      expect(stdout).toMatch(new RegExp(`^  switch on \\(exposes\\) +customers\\.${off} `, "mu"));
      expect(readableIn(stdout)).toBe(0);
    }),
  );

  test(
    "a saved plan that only protects sends the hash, and holds the rest",
    inProcesses((processes) => {
      processes.run("plan", "--protect-only", "--out", "plan.json");
      expect(saidOf(stepsOf(savedIn(processes), "ready"))).toEqual({ [hash]: planned[hash] });
      expect(saidOf(stepsOf(savedIn(processes), "held"))).toEqual({ [enable]: planned[enable] });
      expect(processes.run("apply", "plan.json", "--protect-only", "--yes").code).toBe(4);
      checkSent(given, processes.account(), only(all, true));
    }),
  );

  test(
    "apply --yes does both, and says so",
    inProcesses(({ run, account }) => {
      const { code, stdout } = run("apply", "--yes", "-o", "json");
      expect(code).toBe(0);
      expect(saidOf(stepsOf(JSON.parse(stdout) as Result, "ready"))).toEqual(planned);
      checkSent(given, account(), all);
    }),
  );

  test(
    "apply --protect-only sends the hash, and ends with 4",
    inProcesses(({ run, account }) => {
      const { code, stdout } = run("apply", "--protect-only", "--yes", "-o", "json");
      expect(code).toBe(4);
      checkSent(given, account(), only(all, true));
      checkProtected(given, account());
      expect(saidOf(stepsOf(JSON.parse(stdout) as Result, "held"))).toEqual({ [enable]: planned[enable] });
    }),
  );

  test(
    "drift says that the unhashed column is exposed, and the other one stricter",
    inProcesses(({ run }) => {
      const { code, stdout } = run("drift", "-o", "json");
      expect(code).toBe(2);
      expect(saidOf(stepsOf(JSON.parse(stdout) as Plan, "ready"))).toEqual({
        [hash]: "false → true: exposed",
        [enable]: "false → true: stricter",
      });
    }),
  );

  test(
    "ci plan says so, and fails if it is asked to",
    inProcesses((processes) => {
      const { code, stdout } = processes.run("ci", "plan", "--no-comment", "--fail-on", "exposes", "--out", "plan.json");
      expect(code).toBe(2);
      expect(saidOf(stepsOf(savedIn(processes), "ready"))).toEqual(planned);
      expect(stdout).toContain("2 changes, 1 exposes, 1 protects");
    }),
  );

  test("the controller's repair sends the hash and nothing else", () =>
    withLibrary(given, async (running) => {
      await repair(running);
      checkSent(given, running.account(), only(all, true));
      checkProtected(given, running.account());
    }));
});
