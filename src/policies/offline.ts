import { type Field, literalPointer, type NodePath, nodeText } from "../kinds/schema-config/tree.ts";
import { own } from "../model/json.ts";
import type { Problem, Severity } from "../model/problem.ts";
import { locationIn, type PolicySpec, type Resource, type SchemaConfigSpec } from "../model/resource.ts";
import { type CompiledPolicy, compilePolicy, type Named } from "./compile.ts";
import { policiesIn, policyProblems } from "./validate.ts";

// What can be said of policies before any account is read: a literal tree that says the opposite of what a policy requires. It must never accuse
// wrongly, so everything that only the account knows, or that something else may decide, makes it silent or, where just the switches above are left
// open, a warning. Rules are not judged here: what they come to depends on the names that are live.

type Config = Resource<SchemaConfigSpec>;

/** `ignoring`: whether the config leaves differences of some schema configuration to others, so that literals may never be sent. */
export function literalProblems(resources: readonly Resource[], today: string, ignoring: boolean): readonly Problem[] {
  const wrong = new Set(policyProblems(resources).map(({ address }) => address));
  const policies = policiesIn(resources)
    .filter(({ address, spec }) => spec.require !== undefined && !wrong.has(address))
    .map(compilePolicy);
  if (policies.length === 0) return [];
  const configs = resources.filter(({ kind }) => kind === "SchemaConfig") as readonly Config[];
  return configs.flatMap((config) => {
    if (config.spec.schemas === undefined || configs.some((other) => mayOverrule(other, config, resources))) return [];
    const target = targetOf(config, resources);
    const isLate = ignoring || config.spec.missing === "ignore";
    return policies.filter((policy) => surelySelects(policy, target)).flatMap((policy) => judgeTree(policy, config, today, isLate));
  });
}

/** The integration of a manifest; its live name may be another one, and is not known. Undefined: some live integration, or several. */
function targetOf({ spec: { integration } }: Config, resources: readonly Resource[]): Named | undefined {
  const manifest = resources.find(
    ({ kind, name, id }) =>
      kind === "Integration" &&
      (typeof integration === "string" ? name === integration : integration !== undefined && id === integration.id),
  );
  return manifest === undefined ? undefined : { names: [manifest.name], labels: manifest.labels };
}

/** A name that is left out by `!` could be the live one, which is not known. */
function surelySelects({ resource, selects }: CompiledPolicy, target: Named | undefined): boolean {
  const when = resource.spec.when?.integration;
  if (when === undefined) return true;
  return target !== undefined && when.names?.some((text) => text.startsWith("!")) !== true && selects(target);
}

function mayOverrule(other: Config, config: Config, resources: readonly Resource[]): boolean {
  if (other === config || (other.spec.priority ?? 0) <= (config.spec.priority ?? 0)) return false;
  const [one, two] = [targetOf(other, resources), targetOf(config, resources)];
  return one === undefined || two === undefined || one.names[0] === two.names[0];
}

/** True or false where the manifest says it, undefined where only the account knows. */
type Known = boolean | undefined;

/** Whether what the condition wants is so: undefined where that is not known. */
const holds = (wanted: boolean | undefined, is: Known): Known =>
  wanted === undefined ? true : is === undefined ? undefined : wanted === is;
/** All of them; one that is false settles it, whatever is unknown. */
const all = (...parts: readonly Known[]): Known => (parts.includes(false) ? false : parts.includes(undefined) ? undefined : true);

function judgeTree(policy: CompiledPolicy, config: Config, today: string, isLate: boolean): readonly Problem[] {
  const { when = {}, require = {} } = policy.resource.spec;
  const problems: Problem[] = [];
  const check = (path: NodePath, key: Field, is: Known, judged: Known): void => {
    if (require[key] === undefined || is === undefined || is === require[key] || judged === false) return;
    if (isExempt(policy, path, today)) return;
    problems.push(toProblem(policy.resource, config, path, key, judged === true && !isLate));
  };
  const { schemas = {} } = config.spec;
  for (const schema of Object.keys(schemas)) {
    const ofSchema = own(schemas, schema);
    // `enabled: undefined` never matters to the name's half of the test.
    if (ofSchema === undefined || !policy.schema(schema, when.schema?.enabled ?? true)) continue;
    const schemaOn = ofSchema.enabled;
    const schemaMeant = holds(when.schema?.enabled, schemaOn);
    if (policy.level === "schema") check([schema], "enabled", schemaOn, schemaMeant);
    if (policy.level === "schema") continue;
    for (const table of Object.keys(ofSchema.tables ?? {})) {
      const ofTable = own(ofSchema.tables, table);
      if (ofTable === undefined || !policy.table(table, when.table?.enabled ?? true, when.table?.syncMode)) continue;
      const flows = all(schemaOn, ofTable.enabled);
      const meant = all(schemaMeant, holds(when.table?.enabled, flows), when.table?.syncMode === undefined ? true : undefined);
      if (policy.level === "table" && ofTable.enabled !== undefined) {
        // Declared on counts as on unless the schema is declared off.
        const is = ofTable.enabled ? schemaOn !== false : false;
        check([schema, table], "enabled", is, is && schemaOn === undefined ? all(meant, undefined) : meant);
      }
      if (policy.level === "table") continue;
      for (const column of Object.keys(ofTable.columns ?? {})) {
        const entry = own(ofTable.columns, column);
        const { enabled, hashed, isPrimaryKey } = when.column ?? {};
        const probe = { enabled: enabled ?? true, hashed: hashed ?? false, isPrimaryKey: isPrimaryKey ?? false };
        if (entry === undefined || !policy.column(column, probe)) continue;
        const isMeant = all(holds(enabled, entry.enabled), holds(hashed, entry.hashed), isPrimaryKey === undefined ? true : undefined);
        const judged = all(meant, flows, isMeant);
        check([schema, table, column], "enabled", entry.enabled, judged);
        check([schema, table, column], "hashed", entry.hashed, judged);
      }
    }
  }
  return problems;
}

function isExempt({ resource }: CompiledPolicy, [schema, table, column]: NodePath, today: string): boolean {
  const { exemptions = [] } = resource.spec;
  // Which integration it is is left open here: one that might be meant is none to accuse.
  const anywhere = compilePolicy({
    ...resource,
    spec: { ...resource.spec, exemptions: exemptions.map(({ integration: _, ...rest }) => rest) },
  });
  const spot = { schema, ...(table === undefined ? {} : { table }), ...(column === undefined ? {} : { column }) };
  return anywhere.exemptions([""], spot).some(({ expires }) => expires === undefined || expires >= today);
}

function toProblem(policy: Resource<PolicySpec>, config: Config, path: NodePath, key: Field, isSure: boolean): Problem {
  const { severity: wanted, message, require = {} } = policy.spec;
  const severity: Severity = isSure || wanted === "info" ? wanted : "warning";
  const doubt = isSure ? "" : " It is a breach as soon as that is replicated; dimsync plan looks at the account.";
  return {
    code: severity === "error" ? "E_POLICY" : severity === "warning" ? "W_POLICY" : "I_POLICY",
    severity,
    summary: "Against a policy",
    message: `${config.address} sets ${key} of ${nodeText(path)} to ${String(require[key] !== true)}, and ${policy.address} requires ${String(require[key])}: ${message.replace(/\.$/u, "")}.${doubt} Change it, or add an exemption with its reason.`,
    place: locationIn(config, literalPointer(path, key)),
    address: config.address,
  };
}
