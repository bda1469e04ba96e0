import { asset } from "./asset/index.ts";
import { integration } from "./integration/index.ts";
import type { Kind } from "./kind.ts";
import { schemaConfig } from "./schema-config/index.ts";
import { tag } from "./tag/index.ts";

/**
 * Every kind, in the order of dependency: those that others refer to come first. The cast forgets what each kind's units and live objects are:
 * the engine hands a kind only what that same kind made.
 */
export const kinds = [asset, integration, schemaConfig, tag] as unknown as readonly Kind[];

export function kindNamed(name: string): Kind | undefined {
  return kinds.find((kind) => kind.name === name);
}
