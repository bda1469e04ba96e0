import type { Register, RegisterDiff } from "../../../core/model/register.ts";
import { jsonDocument, printableJson } from "../../../core/text/control-characters.ts";

/** One row on each line, so that a register of any size can be written. */
export function* registerJson({ rows, target, at, account, summary, exit }: Register): Iterable<string> {
  const head = jsonDocument({
    formatVersion: "1.0",
    kind: "Register",
    target,
    account,
    at,
    exit,
    summary,
  });
  yield `${head.slice(0, -3)},\n  "rows": [`;
  let between = "\n";
  for (const row of rows) {
    yield `${between}    ${printableJson(JSON.stringify(row))}`;
    between = ",\n";
  }
  yield `${between === "\n" ? "" : "\n  "}]\n}\n`;
}

export const registerDiffJson = (diff: RegisterDiff): string => jsonDocument({ formatVersion: "1.0", kind: "RegisterDiff", ...diff });
