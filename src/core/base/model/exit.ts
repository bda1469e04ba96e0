export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 130;

export interface Exit {
  readonly code: ExitCode;
  /** Short words, for example "changes", "drift", "policy", "stale". */
  readonly reasons: readonly string[];
}

/** Most serious first: an interruption, then 1 > 5 > 6 > 3 > 4 > 2 > 0. */
const bySeriousness: readonly ExitCode[] = [130, 1, 5, 6, 3, 4, 2, 0];

/** The exit of several findings: the most serious code, every reason once, those of the most serious code first. */
export function combineExits(exits: readonly Exit[]): Exit {
  const sorted = [...exits].sort((a, b) => bySeriousness.indexOf(a.code) - bySeriousness.indexOf(b.code));
  return { code: sorted[0]?.code ?? 0, reasons: [...new Set(sorted.flatMap((exit) => exit.reasons))] };
}
