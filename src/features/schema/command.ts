import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/say.ts";
import { kindNames } from "../../core/kinds/manifests.ts";
import type { ExtendedKinds } from "../../core/manifests/schema/live-names.ts";
import { nearestSchemaName, type Schema, schemaNames, schemaText } from "../../core/manifests/schema/lookup.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import type { SchemaFlags } from "./index.ts";

/**
 * `dimsync schema [KIND]`: prints the JSON Schema of a kind, the config, a plan …; without KIND the one for any manifest. With --from-live or --snapshot,
 * it completes the names of an account.
 */
export async function runSchema(context: Context<SchemaFlags>, kind: string | undefined): Promise<ExitCode> {
  const text = schemaText(kind);
  if (text === undefined) {
    const near = kind === undefined ? undefined : nearestSchemaName(kind);
    throw new DimsyncError(
      "E_USAGE",
      `Unknown schema ${JSON.stringify(kind)}. Schemas: ${schemaNames.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    );
  }
  const { fromLive = false, snapshot, integration } = context.flags;
  if (fromLive || snapshot !== undefined) return printLive(context, text);
  if (integration.length > 0) throw new DimsyncError("E_USAGE", "--integration needs --from-live or --snapshot FILE.");
  context.io.stdout(text);
  return 0;
}

/** Prints the schema with the names of the account or the snapshot, in canonical form. Which names are left out is on stderr. */
async function printLive(context: Context<SchemaFlags>, text: string): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  const { fromLive, snapshot, integration: integrations } = flags;
  if (fromLive === true && snapshot !== undefined)
    throw new DimsyncError("E_USAGE", "--from-live and --snapshot cannot be combined. Both say where the names come from.");
  const schema: Schema = JSON.parse(text);
  const kinds = extendedKinds(schema);
  const [{ withRun }, { liveSchema }, { loadOneProject }] = await Promise.all([
    import("../../cli/progress.ts"),
    import("./live-schema.ts"),
    import("../../cli/project.ts"),
  ]);
  const project = await loadOneProject(context, { account: snapshot === undefined, interruptible: true });
  const snapshotFile = snapshot === undefined ? undefined : resolve(cwd, snapshot);
  const options = { schema, kinds, integrations };
  const { schema: extended, leftOut } = await withRun(context, (run) => liveSchema(project, options, { ...run, snapshotFile }));
  if (flags.quiet !== true) for (const sentence of leftOut) say(io, sentence);
  io.stdout(jsonDocument(extended, 1));
  return 0;
}

/** Which definitions of the schema get names. Throws E_USAGE for a schema whose documents contain none. */
function extendedKinds({ title }: Schema): ExtendedKinds {
  if (title === kindNames.schemaConfig) return { schemaConfig: "" };
  if (title === kindNames.ruleSet) return { ruleSet: "" };
  if (title === "Manifest") return { schemaConfig: kindNames.schemaConfig, ruleSet: kindNames.ruleSet };
  throw new DimsyncError(
    "E_USAGE",
    `The schema ${String(title)} has no names of schemas, tables and columns. Use --from-live and --snapshot with ${kindNames.schemaConfig}, ${kindNames.ruleSet} or Manifest.`,
  );
}
