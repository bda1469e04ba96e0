import type { Pointer } from "../../model/pointer.ts";

const readOnlyNodeFields = new Set([
  "nameInDestination",
  "syncMode",
  "cursorField",
  "isPrimaryKey",
  "name_in_destination",
  "sync_mode",
  "cursor_field",
  "is_primary_key",
]);
const integrationFields = new Set(["paused", "source"]);
const tagFields = new Set(["id", "origin", "createdAt", "lastUpdatedAt", "taggedResources"]);

/** Why a key that the service knows has no place where it stands: the interface returns it and has no call that writes it (§2.3, §2.2, §2.4). */
export function readOnlyField(kind: string, parent: Pointer, key: string): string | undefined {
  const inTree = (kind === "SchemaConfig" && parent.startsWith("/spec/schemas")) || /^\/spec\/rules\/[0-9]+\/set$/u.test(parent);
  if (inTree && readOnlyNodeFields.has(key)) {
    return `The interface returns \`${key}\` and has no call that writes it. Assert it under spec.expect instead; to change it, a person uses the service's own screens.`;
  }
  if (kind === "Integration" && (parent === "/spec" || parent === "/spec/create") && integrationFields.has(key)) {
    return `The interface returns \`${key}\` and has no call that writes it. Assert it under spec.expect instead; to change it, a person uses the service's own screens.`;
  }
  if (kind === "Integration" && parent === "/spec/create" && key === "destinationId") {
    return "`destinationId` is filled in from spec.destination. Write spec.destination: { asset: NAME } or { id: ID }.";
  }
  if (kind === "Tag" && parent === "/spec" && tagFields.has(key)) {
    const cure =
      key === "id"
        ? "Pin the live id as metadata.id."
        : key === "taggedResources"
          ? "List what carries the tag under spec.resources."
          : "Remove it.";
    return `The service sets \`${key}\` itself, and the interface has no call that writes it. ${cure}`;
  }
  return undefined;
}
