import type { Validation } from "../model/plan.ts";
import type { Diagnostic } from "../model/problem.ts";
import { counted, countList } from "./counts.ts";

/** "2 errors, 1 warning in 2 files.", "Valid: 8 manifests in 4 files, no problems found." */
export function diagnosticsTotal({ diagnostics, manifests, files: read }: Validation): string {
  const count = (severity: Diagnostic["severity"]) => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const errors = count("error");
  const counts = countList([
    [errors, errors === 1 ? "error" : "errors"],
    [count("warning"), count("warning") === 1 ? "warning" : "warnings"],
    [count("info"), count("info") === 1 ? "note" : "notes"],
  ]);
  if (counts === "") return `Valid: ${counted(manifests, "manifest")} in ${counted(read, "file")}, no problems found.`;
  const files = new Set(diagnostics.flatMap(({ file }) => (file === undefined ? [] : [file]))).size;
  const where = files === 0 ? "" : ` in ${counted(files, "file")}`;
  return errors === 0 ? `Valid, with ${counts}${where}.` : `${counts}${where}.`;
}
