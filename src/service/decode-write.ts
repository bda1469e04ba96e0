import type { WriteDecoder } from "../model/service.ts";
import { decodeTag } from "./decode-resources.ts";
import { decodeSchemas } from "./decode-schemas.ts";

/**
 * What the answers to writes say about the new state. `schemas` changes the answer's data in place. An error names the path's template and has `sent`
 * "maybe": the service has acted, and what it did can't be read.
 */
export const decodeWrite: WriteDecoder = {
  schemas: ({ data }) => decodeSchemas(data, { method: "PATCH", path: "/v1/integrations/{id}/schemas", sent: "maybe" }),
  tag: ({ data }) => decodeTag({ value: data, where: { method: "PUT", path: "/v1/tags/{id}", sent: "maybe" }, above: "/data" }),
};
