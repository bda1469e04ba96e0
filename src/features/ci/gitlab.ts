import type { Rest } from "../../core/forge/rest.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import type { Comments } from "./comments.ts";
import type { Issue, Issues } from "./issues.ts";

/**
 * The comments ("notes") of a merge request. Only those of the token's own user can be edited, so
 * that user is looked up first.
 */
export function mergeRequestComments(rest: Rest, project: string, iid: string): Comments {
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
    create: async (body, isCreated) => void (await rest.call("POST", base, { body: { body }, isCreated })),
    update: async (id, body) => void (await rest.call("PUT", `${base}/${id}`, { body: { body } })),
    remove: async (id) => void (await rest.call("DELETE", `${base}/${id}`)),
  };
}

/** The issue with the label whose text begins with the marker. Creating it also creates a missing label. */
export function gitlabIssues(rest: Rest, project: string, { label, marker }: { readonly label: string; readonly marker: string }): Issues {
  const path = `/projects/${encodeURIComponent(project)}/issues`;
  return {
    find: async () =>
      (await rest.list(`${path}?state=opened&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        .map(issueOf)
        .find(({ body }) => body.startsWith(marker)),
    create: async (title, body, isCreated) =>
      void (await rest.call("POST", path, { body: { title, description: body, labels: label }, isCreated })),
    update: async (id, title, body) => void (await rest.call("PUT", `${path}/${id}`, { body: { title, description: body } })),
    comment: async (id, body) => void (await rest.call("POST", `${path}/${id}/notes`, { body: { body } })),
    close: async (id) => void (await rest.call("PUT", `${path}/${id}`, { body: { state_event: "close" } })),
  };
}

const issueOf = (issue: Readonly<Record<string, unknown>>): Issue => ({
  id: String(own(issue, "iid")),
  title: String(own(issue, "title") ?? ""),
  body: String(own(issue, "description") ?? ""),
});
