import type { AccountView } from "../kinds/kind.ts";
import { namesMatcher } from "../kinds/patterns/names.ts";
import { expand } from "../kinds/schema-config/expand.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { labelOf, selectIntegration, selectIntegrations } from "../kinds/select.ts";
import { own } from "../model/json.ts";
import type { LiveIntegration, LiveSchemas } from "../model/live.ts";
import type { Resource, SchemaTree, TagSpec } from "../model/resource.ts";
import type { Assertion } from "./parse.ts";

/** A node that is not what a test says. */
export interface Failure {
  /** Manifest name, else live name. */
  readonly integration: string;
  /** "public.users.email"; "" for the integration itself. */
  readonly node: string;
  readonly key: string;
  readonly expected: string | boolean;
  readonly actual?: string | boolean;
}

export interface TestOutcome {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly passed: boolean;
  /** Nodes, or integrations, that were looked at. */
  readonly checked: number;
  readonly failed: number;
  /** The first of them. */
  readonly failures: readonly Failure[];
  /** Why it failed although no node did. */
  readonly message?: string;
}

/** Failures that are told; the others are counted. */
const told = 20;

/** Counts what tests see, an integration at a time. */
export interface Evaluation {
  /** Whether any test looks at the integration's schemas. */
  readonly needsSchemas: (live: LiveIntegration) => boolean;
  readonly look: (live: LiveIntegration, schemas: LiveSchemas | undefined, unit: SchemaConfigUnit | undefined) => void;
  readonly outcomes: () => readonly TestOutcome[];
}

export function evaluateAssertions(assertions: readonly Assertion[], world: AccountView): Evaluation {
  const running = assertions.map((assertion) => ({
    assertion,
    isMeant: selectorOf(assertion, world),
    checked: 0,
    failed: 0,
    failures: [] as Failure[],
  }));
  return {
    needsSchemas: (live) => running.some(({ assertion, isMeant }) => assertion.that !== undefined && isMeant(live)),
    look(live, schemas, unit) {
      const label = labelOf(live.id, world);
      const planned = schemas === undefined || unit === undefined ? {} : expand(unit.program, schemas);
      for (const test of running) {
        const { assertion, isMeant } = test;
        if (!isMeant(live)) continue;
        const check = (node: string, actual: Readonly<Record<string, unknown>>): void => {
          test.checked++;
          for (const [key, expected] of Object.entries(assertion.is)) {
            const value = actual[key];
            if (value === expected) continue;
            test.failed++;
            if (test.failures.length < told)
              test.failures.push({
                integration: label,
                node,
                key,
                expected,
                ...(typeof value === "string" || typeof value === "boolean" ? { actual: value } : {}),
              });
          }
        };
        if (assertion.that === undefined) check("", shownOf(live));
        else visit(assertion, schemas ?? {}, assertion.state === "live" ? {} : planned, check);
      }
    },
    outcomes: () =>
      running.map(({ assertion, checked, failed, failures }) => {
        const few = checked < assertion.atLeast;
        return {
          name: assertion.name,
          file: assertion.file,
          line: assertion.line,
          passed: failed === 0 && !few,
          checked,
          failed,
          failures,
          ...(few
            ? { message: `It looked at ${checked}, and atLeast asks for ${assertion.atLeast}: the selector or a name may be wrong.` }
            : {}),
        };
      }),
  };
}

const shownOf = ({ name, paused, source, destination }: LiveIntegration): Readonly<Record<string, unknown>> => ({
  name,
  paused,
  sourceName: source.name,
  sourceType: source.type,
  destinationName: destination.name,
  destinationType: destination.type,
});

function visit(
  { that }: Assertion,
  live: LiveSchemas,
  planned: SchemaTree,
  check: (node: string, actual: Readonly<Record<string, unknown>>) => void,
): void {
  if (that === undefined) return;
  const nameOf = (...names: readonly string[]): string =>
    names.map((name) => (/^[\p{L}\p{N}_$-]+$/u.test(name) ? name : JSON.stringify(name))).join(".");
  for (const schema of Object.keys(live).sort()) {
    const node = own(live, schema);
    if (node === undefined || !that.schema(schema)) continue;
    const wanted = own(planned, schema);
    const schemaOn = wanted?.enabled ?? node.enabled;
    if (that.flows && !schemaOn) continue;
    if (that.depth === 0) {
      check(nameOf(schema), { ...node, enabled: schemaOn });
      continue;
    }
    for (const table of Object.keys(node.tables).sort()) {
      const tableNode = own(node.tables, table);
      if (tableNode === undefined || !that.table(table)) continue;
      const wantedTable = own(wanted?.tables, table);
      const tableOn = wantedTable?.enabled ?? tableNode.enabled;
      if (that.flows && !tableOn) continue;
      if (that.depth === 1) {
        check(nameOf(schema, table), { ...tableNode, enabled: tableOn });
        continue;
      }
      for (const column of Object.keys(tableNode.columns ?? {}).sort()) {
        const columnNode = own(tableNode.columns, column);
        if (columnNode === undefined || !that.column(column)) continue;
        const state = { ...columnNode, ...own(wantedTable?.columns, column) };
        if (that.flows && !state.enabled) continue;
        check(nameOf(schema, table, column), state);
      }
    }
  }
}

function selectorOf({ integrations: { names, labels, tagged } }: Assertion, world: AccountView): (live: LiveIntegration) => boolean {
  const named = names === undefined ? () => true : namesMatcher(names);
  const byId = new Map<string, Resource>();
  for (const resource of world.resources) {
    const identity = resource.kind === "Integration" ? world.identities.get(resource.address) : undefined;
    if (identity?.state === "found") byId.set(identity.id, resource);
  }
  const carrying = tagged === undefined ? undefined : taggedIds(tagged, world);
  return (live) => {
    const manifest = byId.get(live.id);
    const isNamed = named(manifest === undefined ? [live.name] : [live.name, manifest.name]);
    const isLabelled = Object.entries(labels ?? {}).every(([key, value]) => manifest !== undefined && own(manifest.labels, key) === value);
    return isNamed && isLabelled && (carrying === undefined || carrying.has(live.id));
  };
}

/** Integrations that carry the tag now, or will after an apply. The tag is named as its manifest, or as it is live. */
function taggedIds(name: string, world: AccountView): ReadonlySet<string> {
  const ids = new Set<string>();
  const manifest = world.resources.find((resource) => resource.kind === "Tag" && resource.name === name);
  const identity = manifest === undefined ? undefined : world.identities.get(manifest.address);
  for (const tag of world.tags)
    if (tag.name === name || (identity?.state === "found" && identity.id === tag.id))
      for (const { id } of tag.taggedResources ?? []) ids.add(id);
  for (const target of (manifest?.spec as TagSpec | undefined)?.resources ?? []) {
    const selected =
      "integration" in target
        ? [selectIntegration(target.integration, world)]
        : "integrations" in target
          ? selectIntegrations(target.integrations, world)
          : [];
    for (const one of selected) if (one.state === "found") ids.add(one.id);
  }
  return ids;
}
