import type { Problem } from "../../model/problem.ts";
import { type AssetSpec, problemIn, type Resource } from "../../model/resource.ts";
import { unknownValue } from "../hints.ts";

/** The blocks of a connection of an asset that serves several purposes. */
const purposes = ["etl", "reverseEtl", "catalog", "etlSource"];

export const assetHints = (resource: Resource<AssetSpec>): readonly Problem[] => [
  ...unknownValue(resource, "/spec/authMethod"),
  ...flatConnection(resource),
];

/** A PATCH with a flat connection of such an asset is answered with 200, and nothing is written: a rotated password would never arrive. */
function flatConnection(resource: Resource<AssetSpec>): readonly Problem[] {
  const { connectionType, connection, secretVersion } = resource.spec;
  if (connection === undefined || secretVersion === 0 || connectionType !== "multi_purpose") return [];
  if (Object.keys(connection).some((name) => purposes.includes(name))) return [];
  const message = `The service accepts a flat connection for a new multi_purpose asset, but answers a later change of it with 200 and writes nothing. Write one block per purpose that is used: ${purposes.join(", ")}.`;
  return [problemIn(resource, "/spec/connection", { code: "W_FLAT_CONNECTION", severity: "warning", message })];
}
