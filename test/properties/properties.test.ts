// Properties over random accounts and manifests with hostile names. A failure prints its seed and
// the smallest counterexample.

import { expect, test } from "vitest";
import { kindOf } from "../../src/core/base/model/address.ts";
import { eachChange } from "../../src/core/base/model/changes.ts";
import { canonicalJson, isObject, type JsonValue } from "../../src/core/base/model/json/json.ts";
import { atPointer, leavesOf, type Pointer } from "../../src/core/base/model/json/pointer.ts";
import type { Change, Plan, Step } from "../../src/core/base/model/plan.ts";
import type { Exchange, SchemaMap } from "../../src/embedded/index.ts";
import { accountChanges } from "../support/accounts/changes.ts";
import fc from "../support/fast-check.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { filesIn } from "../support/project-folder.ts";
import { runs } from "../support/sample.ts";
import { isInInterface } from "../support/service.ts";
import { byHandSteps, heldSteps, outcomes, readySteps, waitingSteps } from "../support/steps.ts";
import { accountOf, manifestsOf, type RandomAccount, randomAccount } from "./accounts.ts";
import { canary, inOneFile, withProject } from "./run.ts";

const usual = { numRuns: runs(2, 200) };
const isWrite = ({ method }: Exchange): boolean => method !== "GET";

/** The body with references instead of secrets, as in a plan. */
function referenced(value: unknown): unknown {
  if (value === canary) return { $secret: { env: "CANARY" } };
  if (Array.isArray(value)) return value.map(referenced);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, referenced(member)]));
}

const sentText = ({ method, path, requestBody }: Exchange): string => `${method} ${path} ${canonicalJson(referenced(requestBody))}`;
const plannedTexts = (made: Plan): readonly string[] =>
  readySteps(made).flatMap(({ requests }) => requests.map(({ method, path, body }) => `${method} ${path} ${canonicalJson(body)}`));

test("apply makes the declared changes and no others, and the next plan is empty", async () => {
  await fc.assert(
    fc.asyncProperty(randomAccount, async (random) => {
      const before = accountOf(random, false);
      await withProject(before, inOneFile(manifestsOf(random)), random.form, async ({ plan, apply, drift, state, calls, folder }) => {
        const first = await plan();
        expect(diagnosticsOf(first).filter(({ severity }) => severity === "error")).toEqual([]);
        await drift();
        expect(calls().filter(isWrite), "plan and drift send only GET").toEqual([]);
        expect(state()).toEqual(before);

        const result = await apply();
        const sent = calls().filter(isWrite);
        expect(result.exit).toEqual({ code: 0, reasons: [] });
        expect(outcomes(result).filter(({ outcome }) => outcome !== "done")).toEqual([]);
        expect(sentTexts(sent, first, random), "the planned requests are the ones that are sent").toEqual([...plannedTexts(first)].sort());

        const wanted = accountOf(random, true);
        const made = (path: string): boolean => isNew(before, path);
        expect(
          accountChanges(wanted, state()).filter(({ path }) => !made(path)),
          "the live state is the declared one",
        ).toEqual([]);
        expect(state().integrations.length - before.integrations.length).toBe(random.creates ? 1 : 0);

        const second = await plan();
        expect({
          items: readySteps(second),
          waiting: waitingSteps(second),
          byHand: byHandSteps(second),
          planned: second.calls.planned,
        }).toEqual({
          ...{ items: [], waiting: [], byHand: [], planned: {} },
        });
        await apply();
        expect(calls().filter(isWrite), "a second apply sends nothing").toEqual([]);

        const everything = JSON.stringify([first, result, second]) + [...filesIn(folder).values()].join("\n");
        expect(everything.includes(canary), "no output contains a secret").toBe(false);
      });
    }),
    usual,
  );
});

/** Without what the run sends to objects that it has created. */
function sentTexts(sent: readonly Exchange[], plan: Plan, { creates }: RandomAccount): readonly string[] {
  const paths = plannedPaths(plan);
  return sent
    .filter(({ path }) => !creates || paths.has(path))
    .map(sentText)
    .sort();
}

const plannedPaths = (made: Plan): ReadonlySet<string> =>
  new Set(
    readySteps(made)
      .flatMap(({ requests }) => requests.map(({ path }) => path))
      .filter((path) => path !== "/v1/integrations"),
  );

/** Whether the path is about an object that the account did not have: "integrations[ID]/…". */
function isNew(before: ReturnType<typeof accountOf>, path: string): boolean {
  const known = [...before.integrations, ...before.assets, ...before.tags, ...before.users];
  const [, id] = /^\w+\[(.*?)\]/u.exec(path) ?? [];
  return !known.some((one) => one.id === id);
}

test("every leaf of a body differs from the live value, or must be repeated", async () => {
  await fc.assert(
    fc.asyncProperty(randomAccount, async (random) => {
      const account = accountOf(random, false);
      await withProject(account, inOneFile(manifestsOf(random)), random.form, async ({ plan }) => {
        for (const item of readySteps(await plan())) {
          const { address, verb, requests, liveId } = item;
          const kind = kindOf(address);
          if (verb !== "update") continue;
          const { schemas = {}, settings, ...integration } = account.integrations.find(({ id }) => id === liveId) ?? {};
          let live: unknown =
            [...account.tags, ...account.assets].find(({ id }) => id === liveId) ??
            Object.assign(integration, settings, { schemas: shownSchemas(schemas, random.form) });
          const changed = new Map<Pointer, Change>(Array.from(eachChange(item), (change) => [change.path, change]));
          const seen = new Set<Pointer>();
          for (const { body } of requests) {
            const leaves = leavesOf(body).flatMap(({ path, value }) => (isObject(value) ? [] : [[path, value] as const]));
            const fresh = leaves.filter(([path, value]) => atPointer(live, path) !== value);
            expect(fresh.length, "a body without a change").toBeGreaterThan(0);
            for (const [path, value] of fresh) {
              expect(changed.get(path)?.after, path).toEqual(value);
              seen.add(path);
            }
            for (const [path] of leaves.filter(([path]) => !fresh.some(([other]) => other === path)))
              expect(kind === "Tag" && isCompanion(path), `${path} need not be sent`).toBe(true);
            live = withLeaves(live, fresh);
          }
          expect([...seen].sort(), "every change is sent, once").toEqual([...changed.keys()].sort());
        }
      });
    }),
    usual,
  );
});

/** As the plan knows them: the observed service shows no `enabled` of a schema. */
const shownSchemas = (schemas: SchemaMap, form: RandomAccount["form"]): object =>
  form === "observed" ? Object.fromEntries(Object.entries(schemas).map(([name, { enabled: _, ...schema }]) => [name, schema])) : schemas;

/** Leaves that are sent unchanged: the fields of a tag. */
const isCompanion = (path: Pointer): boolean => ["/name", "/description", "/owner"].includes(path);

/** The live document after a body, to compare a second body with. */
function withLeaves(live: unknown, leaves: readonly (readonly [Pointer, JsonValue])[]): unknown {
  const values = new Map(leaves);
  const visit = (node: unknown, path: Pointer): unknown => {
    if (!isObject(node)) return values.get(path) ?? node;
    return Object.fromEntries(
      Object.entries(node).map(([key, member]) => [key, visit(member, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`)]),
    );
  };
  return visit(live, "");
}

test("a plan does not depend on the order of files, keys and responses", async () => {
  await fc.assert(
    fc.asyncProperty(randomAccount, async (random) => {
      const documents = manifestsOf(random);
      const account = accountOf(random, false);
      const usual = await withProject(account, inOneFile(documents), random.form, ({ plan }) => plan());
      const files = Object.fromEntries(
        documents.map((document, index) => [`manifests/${documents.length - index}/x.yml`, JSON.stringify(reversed(document))]),
      );
      const other = await withProject(shuffledAccount(account), files, random.form, ({ plan }) => plan());
      expect(unplaced(other)).toEqual(unplaced(usual));
    }),
    usual,
  );
});

/** The same value with the keys of every map reversed. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

function shuffledAccount(account: ReturnType<typeof accountOf>): ReturnType<typeof accountOf> {
  const { integrations, tags, users, assets, ...others } = structuredClone(account);
  return {
    ...others,
    integrations: integrations.map((one) => ({ ...one, schemas: reversed(one.schemas) as typeof one.schemas })).reverse(),
    tags: tags.map((one) => ({ ...one, relations: one.relations.reverse() })).reverse(),
    users: users.reverse(),
    assets: assets.reverse(),
  };
}

/**
 * A plan without ids and times, and without positions in files, by which problems are sorted.
 */
function unplaced(plan: Plan): unknown {
  const { planId: _, createdAt: __, account: ___, findings, ...others } = plan;
  const rest = { ...others, findings: [...findings].sort((a, b) => (a.message < b.message ? -1 : 1)) };
  return JSON.parse(
    JSON.stringify(rest, (key: string, value: unknown) =>
      ["file", "line", "column", "excerpt", "since"].includes(key) ? undefined : value,
    ),
  );
}

test("the random accounts are varied", () => {
  const accounts: readonly RandomAccount[] = fc.sample(randomAccount, 100);
  const count = (holds: (random: RandomAccount) => boolean): number => accounts.filter(holds).length;
  expect(count(({ form }) => form === "snake")).toBeGreaterThan(10);
  expect(count(({ creates }) => creates)).toBeGreaterThan(10);
  expect(count(({ tags }) => tags.length > 0)).toBeGreaterThan(10);
  const text = JSON.stringify(accounts);
  for (const name of ["__proto__", "a/b", "100%", "constructor", ".."]) expect(text).toContain(JSON.stringify(name));
});

test("with --protect-only no column becomes more readable, it converges, and plan shows the remaining changes", async () => {
  const protectOnly = true;
  await fc.assert(
    fc.asyncProperty(randomAccount, async (random) => {
      const before = accountOf(random, false);
      await withProject(before, inOneFile(manifestsOf(random)), random.form, async ({ plan, apply, state, calls }) => {
        const full = await plan();
        const planned = await plan({ protectOnly });
        calls();
        const result = await apply({ protectOnly });
        const sent = calls().filter(isWrite);
        expect(outcomes(result).filter(({ outcome }) => outcome !== "done")).toEqual([]);
        expect(sent.map(sentText).sort(), "the calls in the plan are sent").toEqual([...plannedTexts(planned)].sort());
        expect(heldSteps(result)).toEqual(heldSteps(planned));
        expect(result.exit).toEqual(heldSteps(planned).length > 0 ? { code: 4, reasons: ["held"] } : { code: 0, reasons: [] });

        const readable = readability(state());
        for (const [column, level] of readability(before)) expect(readable.get(column) ?? 0, column).toBeLessThanOrEqual(level);
        expect(readable.size, "there is no new column").toBe(readability(before).size);

        await apply({ protectOnly });
        expect(calls().filter(isWrite), "a second run sends nothing").toEqual([]);
        const isLeft = ({ risk }: Change): boolean => risk !== "protects";
        const left = changesOf(readySteps(await plan()));
        const wanted = changesOf(readySteps(full), isLeft);
        // Without columns in the response, those of a table that is disabled now are not compared any more.
        expect(
          random.form === "snake" ? left.filter((one) => !wanted.includes(one)) : left,
          "the remaining changes are the held ones",
        ).toEqual(random.form === "snake" ? [] : wanted);
        expect(changesOf(heldSteps(planned).filter(({ waitsFor }) => waitsFor === undefined))).toEqual(wanted);
        await apply();
        expect(readySteps(await plan())).toEqual([]);
      });
    }),
    usual,
  );
});

test("with the switch off, the observed service gets no extended request, and the calls in the plan are the calls that are sent", async () => {
  const allow = new Map([["exposureWindow", "nothing else resumes a new integration"]]);
  await fc.assert(
    fc.asyncProperty(randomAccount, async (any) => {
      const random = { ...any, form: "observed" } as const;
      const files = inOneFile(manifestsOf(random, false));
      await withProject(accountOf(random, false), files, "switched off", async ({ plan, drift, apply, calls }) => {
        const planned = await plan({ allow });
        await drift();
        await apply({ allow });
        const all = calls();
        expect(all.filter((call) => !isInInterface(call)).map(sentText), "no request is beyond the interface document").toEqual([]);
        expect(sentTexts(all.filter(isWrite), planned, random)).toEqual([...plannedTexts(planned)].sort());
      });
    }),
    usual,
  );
});

/** By column: 0 not replicated, 1 hashed, 2 unhashed. */
function readability({ integrations }: ReturnType<typeof accountOf>): ReadonlyMap<string, number> {
  return new Map(
    integrations.flatMap(({ id, schemas }) =>
      Object.entries(schemas).flatMap(([schema, { enabled, tables }]) =>
        Object.entries(tables).flatMap(([table, { enabled: isTableEnabled, columns }]) =>
          Object.entries(columns ?? {}).map(([column, { enabled: isColumnEnabled, hashed }]): [string, number] => [
            JSON.stringify([id, schema, table, column]),
            enabled && isTableEnabled && isColumnEnabled ? (hashed ? 1 : 2) : 0,
          ]),
        ),
      ),
    ),
  );
}

/** "address path" of every change that is not only recorded. */
const changesOf = (
  items: readonly Pick<Step, "address" | "changes" | "verb">[],
  isWanted: (change: Change) => boolean = () => true,
): readonly string[] =>
  items
    .filter(({ verb }) => verb !== "bind")
    .flatMap((item) => [...eachChange(item)].filter(isWanted).map(({ path }) => `${item.address} ${path}`))
    .sort();
