import type { Register, RegisterDiff } from "../../model/register.ts";

/** One row on each line, so that a register of any size can be written. */
export function* registerJson({ rows, target, at, from, account, summary, exit }: Register): Iterable<string> {
  const head = JSON.stringify(
    { formatVersion: "1.0", kind: "Register", target, account, ...(from === undefined ? {} : { from }), at, exit, summary },
    undefined,
    2,
  );
  yield `${head.slice(0, -2)},\n  "rows": [`;
  let between = "\n";
  for (const row of rows()) {
    yield `${between}    ${JSON.stringify(row)}`;
    between = ",\n";
  }
  yield `${between === "\n" ? "" : "\n  "}]\n}\n`;
}

export const registerDiffJson = (diff: RegisterDiff): string =>
  `${JSON.stringify({ formatVersion: "1.0", kind: "RegisterDiff", ...diff }, undefined, 2)}\n`;
