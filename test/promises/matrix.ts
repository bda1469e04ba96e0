import { execFile } from "node:child_process";
import { expect } from "vitest";
import type { AccountState, SchemaMap } from "../../src/embedded/index.ts";
import { apply, DimsyncError, drift, type Plan, plan, type Result, stepsOf } from "../../src/index.ts";
import fc from "../support/fast-check.ts";
import { accountOf, columnOf } from "./account.ts";
import { type Life, type Store, withLife } from "./life.ts";
import { builtCli, checkedByController } from "./run.ts";

// What is protected stays protected, or somebody hears (P). Each column has a mark that it keeps through every rename and when its
// integration is created again: the name in the destination. Once an apply has left a column that the manifests keep unreadable, every
// later run that finds it readable must say so and must not end with 0, until a manifest gives it up. The mark and the account's data are
// all that is asked.

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

/** Rules that keep these columns hashed, and the secrets disabled: by columns, by tables, or by a label for each. */
const forms = {
  columns: (column: readonly string[]) => [
    { id: "pii", match: { column }, set: { hashed: true } },
    { id: "secrets", match: { column: ["secret"] }, set: { enabled: false } },
  ],
  tables: (column: readonly string[]) => [
    { id: "pii", match: { schema: ["public", "crm"], table: ["users"], column }, set: { hashed: true } },
    { id: "logs", match: { table: ["logs"] }, set: { enabled: false } },
  ],
  labels: (column: readonly string[]) => [
    ...column.map((label) => ({ id: label, match: { label }, set: { hashed: true } })),
    { id: "secrets", match: { column: ["secret"] }, set: { enabled: false } },
  ],
};

/** The file of labels: each of these columns has its name as a label. */
const labelsOf = (columns: readonly string[]): string =>
  [
    "integration,schema,table,column,label",
    ...columns.flatMap((column) => ["public", "crm"].map((schema) => `*,${schema},users,${column},${column}`)),
  ]
    .map((row) => `${row}\n`)
    .join("");

const selectors = { all: { names: ["*"] }, shops: { names: ["Shop *"] }, listed: { names: ["Shop a1", "Shop b2"] } } as const;

/** Further rules that a person adds, of which none gives a kept column up. */
const additions = {
  unrelated: { id: "ids", match: { column: ["id"] }, set: { enabled: true } },
  covering: { id: "contacts", match: { column: ["contact*"] }, set: { hashed: true } },
} as const;

interface Manifests {
  readonly form: keyof typeof forms;
  readonly selector: keyof typeof selectors;
  /** Whether an exclusive tag has the same selector. */
  readonly hasTag: boolean;
  readonly hashed: readonly string[];
  readonly added: readonly (keyof typeof additions)[];
}

function textOf({ form, selector, hasTag, hashed, added }: Manifests): string {
  const integrations = selectors[selector];
  const header = (kind: string) => ({ apiVersion: "dimsync/v1", kind, metadata: { name: "pii" } });
  const config = {
    ...header("SchemaConfig"),
    spec: { integrations, rules: [...forms[form](hashed), ...added.map((one) => additions[one])] },
  };
  const tag = {
    ...header("Tag"),
    spec: { name: "PII", exclusive: true, taggedBy: { user: "bot@example.com" }, resources: [{ integrations }] },
  };
  const labels = {
    ...header("Classification"),
    spec: {
      // Both are defined, also if no column has them.
      labels: ["email", "phone"].map((label) => ({ label, match: { column: `no_${label}` } })),
      from: [{ csv: { file: "labels.csv" } }],
    },
  };
  return [config, ...(form === "labels" ? [labels] : []), ...(hasTag ? [tag] : [])]
    .map((document) => `${JSON.stringify(document)}\n`)
    .join("---\n");
}

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

/** In the account, on no integration yet. */
const tag: AccountState["tags"][number] = {
  ...{ id: "t-1", name: "PII", description: "", owner: "u-3", origin: "", relations: [] },
  ...{ createdAt: "2026-01-05T08:00:00.000Z", lastUpdatedAt: "2026-01-05T08:00:00.000Z" },
};

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

/** A person with the manifests. */
interface Author {
  readonly manifests: Manifests;
  readonly rewrite: (change: Partial<Manifests>) => Promise<void>;
}

/** A change of the account or the manifests, or what the service does wrong. */
type Event = (life: Life & Author, at: { readonly id: Id; readonly schema: "public" | "crm"; readonly n: number }) => void | Promise<void>;

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
  "a column is renamed, and another one is dropped": async (life, at) => {
    await events["a column is renamed"]?.(life, at);
    life.mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, at.id)?.schemas, `${at.id}.${at.schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${at.id}.${at.schema}.users`) ?? [];
      delete table?.columns["note"];
    });
  },
  "somebody makes a column readable": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const [, column] = entryIn(table?.columns, `${id}.${schema}.users.${n % 2 === 0 ? "email" : "phone"}`) ?? [];
      if (column !== undefined) Object.assign(column, { hashed: false, enabled: true });
    }),
  "somebody makes a column readable that the service shows in part from now on": ({ mutate }, { id, schema, n }) =>
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const [, column] = entryIn(table?.columns, `${id}.${schema}.users.${n % 2 === 0 ? "email" : "phone"}`) ?? [];
      if (column !== undefined) Object.assign(column, { hashed: false, enabled: true, unshown: ["hashed"] });
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
  "a table is unreadable": ({ weather }, { id, n }) =>
    void Object.assign(weather, { distorts: { id, as: n % 2 === 0 ? "odd" : "repeated" } }),
  "a schema shows no tables, or a table no columns": ({ weather }, { id, n }) =>
    void Object.assign(weather, { distorts: { id, as: n % 2 === 0 ? "withoutTables" : "withoutColumns" } }),
  "there is a draft": ({ weather }) => void Object.assign(weather, { draft: true }),
  "the key may not read it": ({ weather }, { id }) => void Object.assign(weather, { hidden: { id, status: 403, isListed: false } }),
  "the key gets a 404 for it": ({ weather }, { id, n }) =>
    void Object.assign(weather, { hidden: { id, status: 404, isListed: n % 2 === 0 } }),
  "a manifest gives the phone up": async ({ manifests, rewrite, mutate }, { id, schema }) => {
    await rewrite({ hashed: manifests.hashed.filter((name) => name !== "phone") });
    mutate((state) => {
      const [, ofSchema] = entryIn(integrationIn(state, id)?.schemas, `${id}.${schema}`) ?? [];
      const [, table] = entryIn(ofSchema?.tables, `${id}.${schema}.users`) ?? [];
      const [, column] = entryIn(table?.columns, `${id}.${schema}.users.phone`) ?? [];
      if (column !== undefined) Object.assign(column, { hashed: false });
    });
  },
  "a manifest is edited": ({ manifests: { added }, rewrite }, { n }) => {
    const one = n % 2 === 0 ? "unrelated" : "covering";
    return rewrite({ added: added.includes(one) ? added.filter((other) => other !== one) : [...added, one] });
  },
  "the file of labels loses the phone": ({ relabel }) => relabel(labelsOf(["email"])),
  "the service is well again": ({ weather }) => {
    for (const name of ["odd", "unreadable", "distorts", "draft", "hidden"] as const) delete weather[name];
  },
};

/** Nothing is owed because of them: an apply ends well. */
const calm = ["a manifest gives the phone up", "a manifest is edited", "a column is new", "the service is well again"];

const readable = <T extends object>(columns: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, { ...column, enabled: true, hashed: false }]));

const isSilent = (made: Plan): boolean =>
  made.exit.code === 0 && stepsOf(made, "ready").length + made.steps.filter(({ standing }) => standing !== "unseen").length === 0;

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
  plan: async (life) => isSilent(await plan(life.project(), options(life))),
  drift: async ({ project, env }) => (await drift(project(), { env, attribution: false })).exit.code === 0,
  apply: async (life) => wasGood(await apply(life.project(), options(life))),
  nothing: async () => false,
  repair: async (life) => wasGood(await apply(life.project(), { env: life.env, protectOnly: true })),
};

/** Of the built command line. Each takes a second or more. */
const processes: typeof readings = {
  "ci drift": async ({ cwd, env }) =>
    new Promise((done) =>
      execFile(process.execPath, [builtCli, "ci", "drift", "--no-issue"], { cwd, env }, (error) => done(error === null)),
    ),
  check: async ({ cwd, env }) => (await checkedByController(cwd, env)).includes("prod: 0 exposed, 0 different, 0 by hand."),
};

const all = { ...readings, ...processes };

const stepOf = (runs: readonly string[]) =>
  fc.record({
    event: fc.constantFrom(...Object.keys(events)),
    run: fc.constantFrom(...runs),
    id: fc.constantFrom(...ids),
    schema: fc.constantFrom("public", "crm"),
  });

type Story = Pick<Manifests, "form" | "selector" | "hasTag"> & {
  readonly isObserved: boolean;
  readonly steps: readonly { readonly event: string; readonly run: string; readonly id: Id; readonly schema: "public" | "crm" }[];
};

/** A column loses its label and is made readable, and in the same interval somebody edits another rule. */
export const withLabelLost = (run: string): Story => ({
  ...{ form: "labels", selector: "all", hasTag: false, isObserved: false },
  steps: [
    { event: "the file of labels loses the phone", run: "nothing", id: "a1", schema: "public" },
    { event: "somebody makes a column readable", run: "nothing", id: "a1", schema: "crm" },
    { event: "a manifest is edited", run, id: "a1", schema: "public" },
  ],
});

/** Lives that a run judged wrongly once. */
export const known: readonly [Story][] = [
  ...["plan", "drift", "apply"].map((run): [Story] => [withLabelLost(run)]),
  [
    {
      ...{ form: "columns", selector: "all", hasTag: false, isObserved: false },
      steps: [{ event: "a manifest gives the phone up", run: "apply", id: "a1", schema: "public" }],
    },
  ],
  ...["plan", "drift", "apply"].map((run): [Story] => [
    {
      ...{ form: "columns", selector: "all", hasTag: false, isObserved: true },
      steps: [
        { event: "somebody makes a column readable that the service shows in part from now on", run, id: "a1", schema: "public" },
        { event: "the service is well again", run: "drift", id: "a1", schema: "public" },
      ],
    },
  ]),
  [
    {
      ...{ form: "columns", selector: "all", hasTag: false, isObserved: true },
      steps: [
        { event: "a write is dropped", run: "plan", id: "a1", schema: "public" },
        {
          event: "somebody makes a column readable that the service shows in part from now on",
          run: "apply",
          id: "a1",
          schema: "public",
        },
      ],
    },
  ],
  // As many columns as before, and not by one rename alone.
  [
    {
      ...{ form: "columns", selector: "all", hasTag: false, isObserved: false },
      steps: [{ event: "a column is renamed, and another one is dropped", run: "apply", id: "a1", schema: "public" }],
    },
  ],
  // While an apply runs, the service does not show the tables of the schema that has replaced another one.
  [
    {
      ...{ form: "tables", selector: "all", hasTag: false, isObserved: false },
      steps: [
        { event: "a schema shows no tables, or a table no columns", run: "nothing", id: "a1", schema: "public" },
        { event: "the schema is renamed", run: "apply", id: "a1", schema: "public" },
        { event: "the service is well again", run: "nothing", id: "a1", schema: "public" },
        { event: "somebody makes a column readable", run: "plan", id: "a1", schema: "public" },
      ],
    },
  ],
];

const lifeOf = (runs: readonly string[]): fc.Arbitrary<Story> =>
  fc.record({
    form: fc.constantFrom(...(Object.keys(forms) as (keyof typeof forms)[])), // all of its keys
    selector: fc.constantFrom(...(Object.keys(selectors) as (keyof typeof selectors)[])), // all of its keys
    hasTag: fc.boolean(),
    isObserved: fc.boolean(),
    steps: fc.array(stepOf(runs), { minLength: 1, maxLength: 5 }),
  });

/** The integrations that have the tag. */
const taggedIn = ({ tags }: AccountState): readonly string[] =>
  tags.flatMap(({ relations }) => relations.map(({ resourceId }) => resourceId));

/** In every life: no run ends well while what was kept once is readable, and none takes the tag off. `newStore`: where the records of a life are. */
export const holds = (newStore: () => Promise<Store>, runs: "library" | "processes" = "library") =>
  fc.asyncProperty(lifeOf(Object.keys(runs === "library" ? readings : all)), async ({ isObserved, steps, ...first }) => {
    let manifests: Manifests = { ...first, hashed: ["email", "phone"], added: [] };
    const account = accountFor(isObserved);
    await withLife(
      { account, manifests: textOf(manifests), labels: labelsOf(["email", "phone"]), isObserved, store: await newStore() },
      async (one) => {
        expect((await apply(one.project(), options(one))).exit).toEqual({ code: 0, reasons: [] });
        expect(allMarks.filter((mark) => readableIn(one.account()).has(mark))).toEqual([]);
        const tagged = first.hasTag ? ids : [];
        expect([...taggedIn(one.account())].sort()).toEqual(tagged);
        const rewrite: Author["rewrite"] = async (change) => {
          manifests = { ...manifests, ...change };
          await one.edit(textOf(manifests));
        };
        const story: string[] = [];
        for (const [n, { event, run, id, schema }] of steps.entries()) {
          await events[event]?.({ ...one, manifests, rewrite }, { id, schema, n });
          story.push(`${event} (${id}, ${schema}, ${n})`, run);
          const isWell = await saysNothing(async () => (await all[run]?.(one)) === true);
          const readable = readableIn(one.account());
          const open = isWell
            ? allMarks.filter((mark) => readable.has(mark) && (manifests.hashed.includes("phone") || !mark.endsWith(".phone")))
            : [];
          const { integrations } = one.account();
          const untagged = tagged.filter((id) => integrations.some((live) => live.id === id) && !taggedIn(one.account()).includes(id));
          if (run === "apply" && steps.slice(0, n + 1).every((before) => calm.includes(before.event)))
            expect({ story, isWell }).toEqual({ story, isWell: true });
          expect({ story, open, untagged }).toEqual({ story, open: [], untagged: [] });
        }
      },
    );
  });

/** The public descriptions show no `enabled` of a schema. */
function accountFor(isObserved: boolean): AccountState {
  const account = accountOf({ a1: schemasOf("a1"), b2: schemasOf("b2") });
  account.tags.push(structuredClone(tag));
  if (isObserved) for (const { schemas } of account.integrations) for (const schema of Object.values(schemas)) schema.unshown = ["enabled"];
  return account;
}
