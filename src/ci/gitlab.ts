import { isObject, own } from "../model/json.ts";
import type { Notes } from "./comments.ts";
import type { Issues } from "./issues.ts";
import type { Rest } from "./rest.ts";

/** The notes of a merge request. The token's own account is asked first: only its notes can be edited. */
export function mergeRequestNotes(rest: Rest, project: string, iid: string): Notes {
  const base = `/projects/${encodeURIComponent(project)}/merge_requests/${encodeURIComponent(iid)}/notes`;
  return {
    list: async () => {
      const me = await rest.call("GET", "/user");
      const myId = isObject(me) ? own(me, "id") : undefined;
      return (await rest.list(`${base}?per_page=100&order_by=created_at&sort=asc`)).filter(isObject).map((note) => {
        const author = own(note, "author");
        return {
          id: String(own(note, "id")),
          body: String(own(note, "body") ?? ""),
          isTrusted: myId !== undefined && isObject(author) && own(author, "id") === myId,
        };
      });
    },
    create: async (body) => void (await rest.call("POST", base, { body })),
    update: async (id, body) => void (await rest.call("PUT", `${base}/${id}`, { body })),
  };
}

/** The issues of a project that bear one label. Creating one with a label that isn't there creates the label. */
export function projectIssues(rest: Rest, project: string, label: string): Issues {
  const base = `/projects/${encodeURIComponent(project)}/issues`;
  return {
    listOpen: async () =>
      (await rest.list(`${base}?state=opened&labels=${encodeURIComponent(label)}&per_page=100`)).filter(isObject).map((issue) => ({
        id: String(own(issue, "iid")),
        title: String(own(issue, "title") ?? ""),
        body: String(own(issue, "description") ?? ""),
      })),
    create: async (title, body) => void (await rest.call("POST", base, { title, description: body, labels: label })),
    update: async (id, title, body) => void (await rest.call("PUT", `${base}/${id}`, { title, description: body })),
    comment: async (id, body) => void (await rest.call("POST", `${base}/${id}/notes`, { body })),
    close: async (id) => void (await rest.call("PUT", `${base}/${id}`, { state_event: "close" })),
  };
}
