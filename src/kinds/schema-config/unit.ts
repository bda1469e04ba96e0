import type { Resource, SchemaConfigSpec } from "../../model/resource.ts";
import type { Unit } from "../kind.ts";

/** All schema configurations that select one integration, compared as one. */
export interface SchemaConfigUnit extends Unit {
  /** The one of the highest priority, which names the unit. */
  readonly resource: Resource<SchemaConfigSpec>;
  /** Lowest priority first: later ones win, field by field. */
  readonly layers: readonly Resource<SchemaConfigSpec>[];
  readonly liveId: string;
  /** What addresses show of the integration. */
  readonly label: string;
}
