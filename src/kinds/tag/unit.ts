import type { Resource, TagSpec } from "../../model/resource.ts";
import type { Unit } from "../kind.ts";

export interface TagUnit extends Unit {
  readonly resource: Resource<TagSpec>;
}
