import type { Diagnostic } from "../model/problem.ts";
import { counted, countList } from "./counts.ts";

/** "2 errors, 1 warning in 2 files.", "Valid." */
export function diagnosticsTotal(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"]) => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const errors = count("error");
  const counts = countList([
    [errors, errors === 1 ? "error" : "errors"],
    [count("warning"), count("warning") === 1 ? "warning" : "warnings"],
    [count("info"), count("info") === 1 ? "note" : "notes"],
  ]);
  if (counts === "") return "Valid: no problems found.";
  const files = new Set(diagnostics.flatMap(({ file }) => (file === undefined ? [] : [file]))).size;
  const where = files === 0 ? "" : ` in ${counted(files, "file")}`;
  return errors === 0 ? `Valid, with ${counts}${where}.` : `${counts}${where}.`;
}
