import { asset } from "./asset/index.ts";
import { integration } from "./integration/index.ts";
import type { Kind } from "./kind.ts";
import { schemaConfig } from "./schema-config/index.ts";
import { tag } from "./tag/index.ts";

/**
 * Every kind, in the order of dependency: those that others refer to come first. The cast forgets
 * the types of each kind's units and live objects: the engine hands a kind only what that kind made.
 */
export const kinds = [asset, integration, schemaConfig, tag] as unknown as readonly Kind[];

export function kindNamed(name: string): Kind | undefined {
  return kinds.find((kind) => kind.name === name);
}
