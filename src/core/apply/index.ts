export { type Applied, type ApplyOptions, apply } from "./apply.ts";
export { keptAfter } from "./result.ts";
