import type { AccountView } from "../kinds/kind.ts";
import { isIntegration, isTag } from "../kinds/manifests.ts";
import { type LabelScope, labelAmong, labelsOf } from "../kinds/patterns/labels.ts";
import { namesMatcher } from "../kinds/patterns/names.ts";
import { matchesName } from "../kinds/patterns/nodes.ts";
import { expand } from "../kinds/schema-config/coverage.ts";
import { type ColumnPath, type NodePath, nodeText, walk } from "../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { labelOf, labelScopes, selectIntegration, selectIntegrations } from "../kinds/select.ts";
import { own } from "../model/json/json.ts";
import type { LiveIntegration, LiveSchemas } from "../model/live.ts";
import type { Resource, SchemaTree } from "../model/resource.ts";
import type { Assertion, NodeMatch } from "./parse.ts";

/** A value of a node that is not as expected. */
export interface FailedValue {
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
  /** How many nodes or integrations were checked. */
  readonly checked: number;
  readonly failed: number;
  /** The first 20. */
  readonly failures: readonly FailedValue[];
  /** Why it failed although no node did. */
  readonly message?: string;
}

const maxFailures = 20;

/** Evaluates tests, one integration at a time. */
export interface Evaluation {
  /** Whether a test needs the integration's schemas. */
  readonly needsSchemas: (live: LiveIntegration) => boolean;
  /** `schemas` undefined: not read, or gone. `unit` undefined: no SchemaConfig selects the integration. */
  readonly check: (live: LiveIntegration, schemas: LiveSchemas | undefined, unit: SchemaConfigUnit | undefined) => void;
  readonly outcomes: () => readonly TestOutcome[];
}

interface RunningTest {
  readonly assertion: Assertion;
  readonly selects: (live: LiveIntegration) => boolean;
  checked: number;
  failed: number;
  readonly failures: FailedValue[];
}

/** A node and its values. */
interface CheckedNode {
  readonly node: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function evaluateAssertions(assertions: readonly Assertion[], account: AccountView): Evaluation {
  const scopeOf = labelScopes(account);
  const running = assertions.map(
    (assertion): RunningTest => ({ assertion, selects: integrationSelector(assertion, account), checked: 0, failed: 0, failures: [] }),
  );
  return {
    needsSchemas: (live) => running.some(({ assertion, selects }) => assertion.nodes !== undefined && selects(live)),
    check(live, schemas = {}, unit) {
      const integration = labelOf(live.id, account);
      const planned = unit === undefined ? {} : expand(unit.rules, schemas);
      for (const test of running) {
        if (!test.selects(live)) continue;
        const { nodes, state } = test.assertion;
        const checked =
          nodes === undefined
            ? [integrationNode(live)]
            : nodesIn(nodes, { live: schemas, desired: state === "live" ? {} : planned, labels: scopeOf?.(live.id) });
        for (const node of checked) checkNode(test, integration, node);
      }
    },
    outcomes: () => running.map(outcomeOf),
  };
}

function checkNode(test: RunningTest, integration: string, { node, values }: CheckedNode): void {
  test.checked++;
  for (const [key, expected] of Object.entries(test.assertion.expected)) {
    const actual = values[key];
    if (actual === expected) continue;
    test.failed++;
    if (test.failures.length >= maxFailures) continue;
    const known = typeof actual === "string" || typeof actual === "boolean" ? { actual } : {};
    test.failures.push({ integration, node, key, expected, ...known });
  }
}

function outcomeOf({ assertion, checked, failed, failures }: RunningTest): TestOutcome {
  const { name, file, line, atLeast } = assertion;
  const isTooFew = checked < atLeast;
  const message = `It checked ${checked}, but atLeast is ${atLeast}. A selector or a name may be mistyped.`;
  return { name, file, line, passed: failed === 0 && !isTooFew, checked, failed, failures, ...(isTooFew ? { message } : {}) };
}

const integrationNode = ({ name, paused, source, destination }: LiveIntegration): CheckedNode => ({
  node: "",
  values: {
    name,
    paused,
    sourceName: source.name,
    sourceType: source.type,
    destinationName: destination.name,
    destinationType: destination.type,
  },
});

/** An integration's live tree, what is desired of it, and its labels. */
interface Trees {
  readonly live: LiveSchemas;
  readonly desired: SchemaTree;
  readonly labels: LabelScope | undefined;
}

/** The matching nodes by name, with their live values and the desired ones over them. */
function nodesIn({ depth, patterns, labels: wanted, replicated }: NodeMatch, { live, desired, labels }: Trees): readonly CheckedNode[] {
  const found: CheckedNode[] = [];
  /** Whether the nodes below are visited; the checked level is collected. */
  const hasLabel = (path: ColumnPath): boolean =>
    wanted === undefined || (labels !== undefined && labelAmong(labelsOf(labels, live, path), wanted) !== undefined);
  const visit = (path: NodePath, level: 0 | 1 | 2, values: CheckedNode["values"] & { readonly enabled: boolean }): boolean => {
    if (!matchesName(patterns, level, path[level] ?? "") || (replicated && !values.enabled)) return false;
    if (level === depth) found.push({ node: nodeText(path), values });
    return level < depth;
  };
  walk(
    live,
    {
      schema: (entry, path) => visit(path, 0, { ...entry, enabled: own(desired, path[0])?.enabled ?? entry.enabled }),
      table: (entry, path) => visit(path, 1, { ...entry, enabled: own(own(desired, path[0])?.tables, path[1])?.enabled ?? entry.enabled }),
      column: (entry, path) =>
        void (hasLabel(path) && visit(path, 2, { ...entry, ...own(own(own(desired, path[0])?.tables, path[1])?.columns, path[2]) })),
    },
    "by-name",
  );
  return found;
}

function integrationSelector({ integrations }: Assertion, account: AccountView): (live: LiveIntegration) => boolean {
  const { names, labels = {}, tagged } = integrations;
  const matches = names === undefined ? () => true : namesMatcher(names);
  const manifests = new Map<string, Resource>();
  for (const resource of account.resources) {
    const identity = isIntegration(resource) ? account.identities.get(resource.address) : undefined;
    if (identity?.state === "found") manifests.set(identity.id, resource);
  }
  const withTag = tagged === undefined ? undefined : taggedIds(tagged, account);
  return ({ id, name }) => {
    const manifest = manifests.get(id);
    const hasName = matches(manifest === undefined ? [name] : [name, manifest.name]);
    const hasLabels = Object.entries(labels).every(([key, value]) => manifest !== undefined && own(manifest.labels, key) === value);
    return hasName && hasLabels && (withTag === undefined || withTag.has(id));
  };
}

/** Ids of the integrations that have the tag now or after apply. `name`: of the tag's manifest, or its live name. */
function taggedIds(name: string, account: AccountView): ReadonlySet<string> {
  const manifest = account.resources.filter(isTag).find((tag) => tag.name === name);
  const identity = manifest === undefined ? undefined : account.identities.get(manifest.address);
  const isMeant = (id: string): boolean => identity?.state === "found" && identity.id === id;
  const live = account.tags.filter((tag) => tag.name === name || isMeant(tag.id));
  const declared = manifest?.spec.resources ?? [];
  const selected = declared.flatMap((target) => {
    if ("integration" in target) return [selectIntegration(target.integration, account)];
    return "integrations" in target ? selectIntegrations(target.integrations, account) : [];
  });
  return new Set([
    ...live.flatMap(({ taggedResources = [] }) => taggedResources.map(({ id }) => id)),
    ...selected.flatMap((one) => (one.state === "found" ? [one.id] : [])),
  ]);
}
