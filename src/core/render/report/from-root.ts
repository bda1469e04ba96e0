import type { ChangeGroup } from "../../base/model/plan.ts";
import type { Document, RenderOptions } from "../document.ts";

type Prefix = RenderOptions["filePrefix"];

/** "deploy/eu, prod": the target with the folder of its project, if that is not the root of the repository. */
export const targetPlace = (target: string, prefix: Prefix = ""): string =>
  prefix === "" ? target : `${prefix.replace(/\/$/u, "")}, ${target}`;

/** The document with the files of its findings and causes from the root of the repository. */
export function withFiles(document: Document, prefix: Prefix = ""): Document {
  if (prefix === "") return document;
  const at = <T extends { readonly file?: string | undefined }>(one: T): T =>
    one.file === undefined || one.file.startsWith("/") ? one : { ...one, file: `${prefix}${one.file}` };
  const ofChange = (entry: ChangeGroup): ChangeGroup => ({
    ...entry,
    ...(entry.cause === undefined ? {} : { cause: at(entry.cause) }),
    ...(entry.removed === undefined ? {} : { removed: at(entry.removed) }),
  });
  const findings = document.findings.map(at);
  if (document.kind === "Validation") return { ...document, findings };
  const shared = { findings, steps: document.steps.map((step) => ({ ...step, changes: step.changes.map(ofChange) })) };
  return { ...document, ...shared };
}
