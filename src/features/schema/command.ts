import type { Context } from "../../cli/context.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { nearestSchemaName, schemaNames, schemaText } from "../../core/manifests/index.ts";

/** `dimsync schema [KIND]`: prints the JSON Schema of a kind, the config, a plan …; without KIND the one for any manifest. */
export async function runSchema({ io }: Context, kind: string | undefined): Promise<ExitCode> {
  const text = schemaText(kind);
  if (text === undefined) {
    const near = kind === undefined ? undefined : nearestSchemaName(kind);
    throw new DimsyncError(
      "E_USAGE",
      `Unknown schema ${JSON.stringify(kind)}. Schemas: ${schemaNames.join(", ")}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    );
  }
  io.stdout(text);
  return 0;
}
