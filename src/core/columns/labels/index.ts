export { type LoadedLabels, loadLabels } from "./load.ts";
export { dbtFolder } from "./sources.ts";
