import type { Severity } from "../model/problem.ts";

/** From the highest to the lowest. */
export const severities: readonly Severity[] = ["error", "warning", "info"];

/** Sorted by severity, the order of each severity unchanged. */
export function errorsFirst<T extends { readonly severity: Severity }>(all: readonly T[]): readonly T[] {
  return severities.flatMap((severity) => all.filter((one) => one.severity === severity));
}
