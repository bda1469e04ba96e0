import type { Resource, SchemaConfigSpec } from "../../model/resource.ts";
import type { Unit } from "../kind.ts";
import type { CompiledConfig, Program } from "./program.ts";

/** All schema configurations that select one integration, compared as one. */
export interface SchemaConfigUnit extends Unit {
  /** The one of the highest priority, which names the unit. */
  readonly resource: Resource<SchemaConfigSpec>;
  /** What they say together; one value for all integrations with the same ones. */
  readonly program: Program;
  readonly liveId: string;
  /** What addresses show of the integration. */
  readonly label: string;
  /** How many integrations each configuration of the run selects. */
  readonly targets: ReadonlyMap<CompiledConfig, number>;
}
