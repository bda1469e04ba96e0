import type { AccountState } from "../../../src/embedded/index.ts";

/** Somebody emptied the description of the warehouse, and the service made the lake an asset of several purposes. */
export function change({ assets }: AccountState): void {
  const [warehouse, lake] = assets;
  Object.assign(warehouse ?? {}, { description: "", owners: ["u-1"] });
  Object.assign(lake ?? {}, { connectionType: "multi_purpose", connection: { etl: { bucket: "example-lake" } } });
}
