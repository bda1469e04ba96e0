export { dbtFolder, type LoadedLabels, loadLabels } from "./load.ts";
