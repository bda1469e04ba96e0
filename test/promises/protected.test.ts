import { expect, test } from "vitest";
import type { AccountState, SchemaMap } from "../../src/embedded/index.ts";
import { apply, DimsyncError, drift, type Plan, plan, type Result } from "../../src/index.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import { accountOf, columnOf } from "./account.ts";
import { type Life, withLife } from "./life.ts";

// What is protected stays protected, or somebody hears (P). Each column has a mark that it keeps through every rename and when its
// integration is created again: the name in the destination. Once an apply has left a column that the manifests keep unreadable, every
// later run that finds it readable must say so and must not end with 0. The mark and the account's data are all that is asked.

const ids = ["a1", "b2"] as const;

/** Columns that the manifests of all lives keep. */
const kept = ["email", "phone", "secret"];

const tableOf = (at: string, names: readonly string[], enabled = true) => ({
  ...{ nameInDestination: at, enabled, syncMode: "Full Refresh" },
  columns: Object.fromEntries(
    names.map((name) => [name, { ...columnOf(name, { enabled: true, hashed: false }), nameInDestination: `${at}.${name}` }]),
  ),
});

const schemasOf = (id: string): SchemaMap =>
  Object.fromEntries(
    ["public", "crm"].map((schema) => [
      schema,
      {
        ...{ nameInDestination: `${id}.${schema}`, enabled: true },
        tables: {
          users: tableOf(`${id}.${schema}.users`, ["id", "email", "phone", "note"]),
          logs: tableOf(`${id}.${schema}.logs`, ["id", "secret"]),
        },
      },
    ]),
  );

/** A manifest that keeps the columns: by patterns, by tables, or one by one. */
const forms = {
  columns: [
    { id: "pii", match: { column: ["email", "phone"] }, set: { hashed: true } },
    { id: "secrets", match: { column: ["secret"] }, set: { enabled: false } },
  ],
  tables: [
    { id: "pii", match: { schema: ["public", "crm"], table: ["users"], column: ["email", "phone"] }, set: { hashed: true } },
    { id: "logs", match: { table: ["logs"] }, set: { enabled: false } },
  ],
} as const;

const selectors = { all: { names: ["*"] }, shops: { names: ["Shop *"] }, listed: { names: ["Shop a1", "Shop b2"] } } as const;

const manifestOf = (form: keyof typeof forms, selector: keyof typeof selectors): string =>
  JSON.stringify({
    ...{ apiVersion: "dimsync/v1", kind: "SchemaConfig", metadata: { name: "pii" } },
    spec: { integrations: selectors[selector], rules: forms[form] },
  });

/** The marks of readable columns. */
function readableIn({ integrations }: AccountState): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { schemas } of integrations)
    for (const schema of Object.values(schemas))
      for (const table of Object.values(schema.tables))
        for (const { enabled, hashed, nameInDestination } of Object.values(table.columns))
          if (schema.enabled && table.enabled && enabled && !hashed) found.add(nameInDestination);
  return found;
}

const allMarks = ids.flatMap((id) =>
  Object.values(schemasOf(id)).flatMap(({ tables }) =>
    Object.values(tables).flatMap(({ columns }) =>
      Object.entries(columns).flatMap(([name, { nameInDestination }]) => (kept.includes(name) ? [nameInDestination] : [])),
    ),
  ),
);

/** Gives an entry of a map another name, at its place. */
function rename<T>(map: Record<string, T>, from: string, to: string): void {
  for (const [name, value] of Object.entries(map)) {
    delete map[name];
    map[name === from ? to : name] = value;
  }
}

type Id = (typeof ids)[number];

/** A change of the account, or what the service does wrong. */
type Event = (life: Life, at: { readonly id: Id; readonly schema: "public" | "crm"; readonly n: number }) => void;

const integrationIn = (state: AccountState, id: string) =>
  state.integrations.find(({ schemas }) => Object.values(schemas).some(({ nameInDestination }) => nameInDestination.startsWith(`${id}.`)));

/** By the name in the destination, whatever its name is now. */
function entryIn<T extends { readonly nameInDestination: string }>(
  map: Record<string, T> | undefined,
  mark: string,
): readonly [string, T] | undefined {
  return Object.entries(map ?? {}).find(([, { nameInDestination }]) => nameInDestination === mark);
}

const events: Readonly<Record<string, Event>> = {
  "the integration is renamed": ({ mutate }, { id, n }) =>
    mutate((state) => void Object.assign(integrationIn(state, id) ?? {}, { name: n % 2 === 0 ? `Forum ${n}` : `Shop ${n}` })),
  "the schema is renamed": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const schemas = integrationIn(state, id)?.schemas;
      const [name] = entryIn(schemas, `${id}.${schema}`) ?? [];
      if (schemas !== undefined && name !== undefined) rename(schemas, name, `schema${n}`);
    }),
  "the table is renamed": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const of = n % 2 === 0 ? "users" : "logs";
      const [name, table] = entryIn(ofSchema?.tables, `${id}.${schema}.${of}`) ?? [];
      if (ofSchema === undefined || name === undefined || table === undefined) return;
      rename(ofSchema.tables, name, `table${n}`);
      // A source has a new table, which the service replicates as it does all new tables.
      ofSchema.tables[`table${n}`] = { ...table, enabled: true, columns: readable(table.columns) };
    }),
  "a column is renamed": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const mark = `${id}.${schema}.users.${n % 2 === 0 ? "email" : "phone"}`;
      const [name, column] = entryIn(table?.columns, mark) ?? [];
      if (table === undefined || name === undefined || column === undefined) return;
      delete table.columns[name];
      table.columns[`contact${n}`] = { ...column, enabled: true, hashed: false };
    }),
  "somebody makes a column readable": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const [, column] = entryIn(table?.columns, `${id}.${schema}.users.${n % 2 === 0 ? "email" : "phone"}`) ?? [];
      if (column !== undefined) Object.assign(column, { hashed: false, enabled: true });
    }),
  "a column is dropped": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const [name] = entryIn(table?.columns, `${id}.${schema}.users.${n % 2 === 0 ? "email" : "phone"}`) ?? [];
      if (table !== undefined && name !== undefined) delete table.columns[name];
    }),
  "a column is new": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      if (table !== undefined)
        table.columns[`new${n}`] = { ...columnOf(`new${n}`, { enabled: true, hashed: false }), nameInDestination: `new${n}` };
    }),
  "the integration is created again": ({ mutate }, { id, n }) =>
    mutate((state) => {
      const live = integrationIn(state, id);
      if (live === undefined) return;
      const schemas = Object.fromEntries(
        Object.entries(live.schemas).map(([name, schema]) => [
          name,
          {
            ...schema,
            tables: Object.fromEntries(
              Object.entries(schema.tables).map(([table, one]) => [table, { ...one, enabled: true, columns: readable(one.columns) }]),
            ),
          },
        ]),
      );
      state.integrations.splice(state.integrations.indexOf(live), 1, { ...live, id: `${id}n${n}`, schemas });
    }),
  "a write is dropped": ({ weather }) => void Object.assign(weather, { dropsWrite: true }),
  "reads lag": ({ weather }) => void Object.assign(weather, { lags: true }),
  "a neighbour is refused": ({ weather }, { id }) => void Object.assign(weather, { refuses: id }),
  "a member of an entry is odd": ({ weather }, { id }) => void Object.assign(weather, { odd: id }),
  "an entry is unreadable": ({ weather }, { id }) => void Object.assign(weather, { unreadable: id }),
  "there is a draft": ({ weather }) => void Object.assign(weather, { draft: true }),
  "the key may not read it": ({ weather }, { id }) => void Object.assign(weather, { hidden: id }),
  "the service is well again": ({ weather }) => {
    for (const name of ["odd", "unreadable", "draft", "hidden"] as const) delete weather[name];
  },
};

const readable = <T extends object>(columns: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, { ...column, enabled: true, hashed: false }]));

const isSilent = (made: Plan): boolean =>
  made.exit.code === 0 &&
  made.items.length + made.manual.length + made.blocked.length + made.deferred.length + (made.notKept ?? []).length === 0;

/** Whether the run says that all is well. An error before the first request says something. */
async function saysNothing(run: () => Promise<boolean>): Promise<boolean> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DimsyncError) return false;
    throw error;
  }
}

const wasGood = ({ exit }: Result): boolean => exit.code === 0;
const options = ({ env }: Life) => ({ env, allow: new Map([["maxExposedColumns", "test"]]) });

const readings: Readonly<Record<string, (life: Life) => Promise<boolean>>> = {
  plan: async (life) => isSilent(await plan(life.project, options(life))),
  drift: async ({ project, env }) => (await drift(project, { env, attribution: false })).exit.code === 0,
  apply: async (life) => wasGood(await apply(life.project, options(life))),
  repair: async (life) => wasGood(await apply(life.project, { env: life.env, protectOnly: true })),
};

const step = fc.record({
  event: fc.constantFrom(...Object.keys(events)),
  run: fc.constantFrom(...Object.keys(readings)),
  id: fc.constantFrom(...ids),
  schema: fc.constantFrom("public", "crm"),
});

const life = fc.record({
  form: fc.constantFrom(...(Object.keys(forms) as (keyof typeof forms)[])), // all of its keys
  selector: fc.constantFrom(...(Object.keys(selectors) as (keyof typeof selectors)[])), // all of its keys
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
});

test("no run ends well while what was kept once is readable", async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ form, selector, steps }) => {
      const account = accountOf({ a1: schemasOf("a1"), b2: schemasOf("b2") });
      await withLife(account, manifestOf(form, selector), async (one) => {
        expect((await apply(one.project, options(one))).exit).toEqual({ code: 0, reasons: [] });
        const owed = new Set(allMarks);
        expect(allMarks.filter((mark) => readableIn(one.account()).has(mark))).toEqual([]);
        const story: string[] = [];
        for (const [n, { event, run, id, schema }] of steps.entries()) {
          events[event]?.(one, { id, schema, n });
          story.push(`${event} (${id}, ${schema}, ${n})`, run);
          const isWell = await saysNothing(async () => (await readings[run]?.(one)) === true);
          const open = [...readableIn(one.account())].filter((mark) => owed.has(mark));
          if (isWell) expect({ story, open }).toEqual({ story, open: [] });
        }
      });
    }),
    { numRuns: runs(12, 5_000) },
  );
}, 3_600_000);
