export { type Boundary, boundaryOf, refuseOutside } from "./boundary.ts";
export { findConfig } from "./config/file.ts";
export { loadConfig } from "./config/load.ts";
export { globMatcher } from "./discover.ts";
export { makeLocate } from "./locate.ts";
export type { ProjectCatalog } from "./named-files.ts";
export {
  type LoadOptions,
  listTargets,
  loadProject,
  loadSettings,
  noAccount,
  type Project,
  unknownManifest,
  withLocations,
} from "./project.ts";
export { nearestSchemaName, packageText, schemaNames, schemaText } from "./schema/lookup.ts";
export { resolveSecrets, secretPlaces } from "./secrets/resolve.ts";
export { shownPath } from "./source.ts";
export { drift, plan, result } from "./validators.generated.js";
