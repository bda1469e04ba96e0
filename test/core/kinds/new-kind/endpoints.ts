import { notFound, requiredString, type ServedCall, success } from "../../../../src/embedded/http/call.ts";
import type { RouteEntry } from "../../../../src/embedded/http/routes.ts";

/** A note as the service stores it. */
export interface StoredNote {
  readonly id: string;
  readonly name: string;
  text: string;
}

/** The calls of the service that notes need, on `stored`. Names are not unique: the same POST twice makes two notes. */
export function noteRoutes(stored: StoredNote[]): readonly RouteEntry[] {
  const noteOf = ({ params: { id = "" } }: ServedCall): StoredNote => {
    const found = stored.find((one) => one.id === id);
    if (found === undefined) throw notFound("note", id);
    return found;
  };
  return [
    ["GET", "/v1/notes", () => success({ items: stored })],
    ["GET", "/v1/notes/{id}", (call) => success(noteOf(call))],
    [
      "POST",
      "/v1/notes",
      ({ body }) => {
        const created = { id: `n-${stored.length + 1}`, name: requiredString(body, "name"), text: requiredString(body, "text") };
        stored.push(created);
        return success({ id: created.id });
      },
    ],
    ["PATCH", "/v1/notes/{id}", (call) => success({ id: Object.assign(noteOf(call), { text: requiredString(call.body, "text") }).id })],
  ];
}
