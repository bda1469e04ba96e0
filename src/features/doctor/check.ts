/** The result of one check of `dimsync doctor`. */
export interface Check {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  /** What was found, in sentences. */
  readonly found: string;
  /** What to do; absent if the check passed. */
  readonly advice?: string;
}

export const ok = (check: string, found: string): Check => ({ check, state: "ok", found });
export const warn = (check: string, found: string, advice: string): Check => ({ check, state: "warn", found, advice });
export const fail = (check: string, found: string, advice: string): Check => ({ check, state: "fail", found, advice });
