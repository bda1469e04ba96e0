import { nearestSchemaName, schemaNames, schemaText } from "../../manifests/schema/lookup.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Context } from "../shared/context.ts";

/** `dimsync schema [KIND]`: the JSON Schema of a kind, of the config, of a plan …; without KIND that of any manifest. */
export async function runSchema({ io }: Context, kind: string | undefined): Promise<ExitCode> {
  const text = schemaText(kind);
  if (text === undefined) {
    const near = kind === undefined ? undefined : nearestSchemaName(kind);
    throw new DimsyncError(
      "E_USAGE",
      `There is no schema ${JSON.stringify(kind)}. Known: ${schemaNames.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    );
  }
  io.stdout(text);
  return 0;
}
