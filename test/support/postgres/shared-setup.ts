import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { memoryFolder } from "../memory-folder.ts";
import { removePostgres } from "./server.ts";

/** Vitest runs this before all tests, and the function that it returns after them. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(memoryFolder(), "dimsync-postgres-"));
  project.provide("postgresFolder", folder);
  // Also if the run is ended early.
  const remove = (): void => removePostgres(folder);
  process.once("exit", remove);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  return remove;
}
