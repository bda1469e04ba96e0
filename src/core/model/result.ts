import type { ItemResult } from "./documents.generated.d.ts";

export type { ItemResult, Result, Validation } from "./documents.generated.d.ts";

/** How one item of an apply ended. */
export type Outcome = ItemResult["outcome"];
