import { isObject, memberAt, own } from "../../core/base/model/json/json.ts";
import { once } from "../../core/base/model/maps.ts";
import type { Rest } from "../../core/operations/forge/index.ts";
import type { Comments } from "./comments.ts";
import type { Issue, Issues } from "./issues.ts";

/** Whether the token's own user wrote a note or an issue. Anyone could copy the marker. */
function ownership(rest: Rest): () => Promise<(of: Readonly<Record<string, unknown>>) => boolean> {
  const me = once(async () => {
    const user = await rest.call("GET", "/user");
    return memberAt(user, "id");
  });
  return async () => {
    const id = await me();
    return (one) => {
      const author = own(one, "author");
      return id !== undefined && isObject(author) && own(author, "id") === id;
    };
  };
}

/** The comments ("notes") of a merge request. */
export function mergeRequestComments(rest: Rest, project: string, iid: string): Comments {
  const request = `/projects/${encodeURIComponent(project)}/merge_requests/${encodeURIComponent(iid)}`;
  const base = `${request}/notes`;
  const isOwn = ownership(rest);
  return {
    list: async () =>
      (await rest.list(`${base}?per_page=100&order_by=created_at&sort=asc`))
        .filter(isObject)
        .filter(await isOwn())
        .map((note) => ({ id: String(own(note, "id")), body: String(own(note, "body") ?? "") })),
    request: async () => {
      const found = await rest.call("GET", request);
      const sha = memberAt(found, "sha");
      return { head: typeof sha === "string" ? sha : undefined, isMerged: memberAt(found, "state") === "merged" };
    },
    create: async (body, isCreated) => void (await rest.call("POST", base, { body: { body }, isCreated })),
    update: async (id, body) => void (await rest.call("PUT", `${base}/${id}`, { body: { body } })),
    remove: async (id) => void (await rest.call("DELETE", `${base}/${id}`)),
  };
}

/** The numbers (iid) of the merged merge requests that a commit belongs to. */
export const mergedMergeRequests = async (rest: Rest, project: string, commit: string): Promise<readonly string[]> =>
  (await rest.list(`/projects/${encodeURIComponent(project)}/repository/commits/${commit}/merge_requests?per_page=100`))
    .filter(isObject)
    .filter((request) => own(request, "state") === "merged")
    .map((request) => String(own(request, "iid")));

/** The issue with the label whose text begins with the marker. Creating it also creates a missing label. */
export function gitlabIssues(rest: Rest, project: string, { label, marker }: { readonly label: string; readonly marker: string }): Issues {
  const path = `/projects/${encodeURIComponent(project)}/issues`;
  const isOwn = ownership(rest);
  return {
    find: async () =>
      (await rest.list(`${path}?state=opened&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        .filter(await isOwn())
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
