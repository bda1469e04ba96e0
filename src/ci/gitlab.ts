import type { Rest } from "../forge/rest.ts";
import { isObject, own } from "../model/json/json.ts";
import type { Comments } from "./comments.ts";
import type { Issues } from "./issues.ts";
import type { PullRequests } from "./pull-requests.ts";

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

/** The issues of a project that have the label. Creating an issue also creates a missing label. */
export function gitlabIssues(rest: Rest, project: string, label: string): Issues {
  const base = `/projects/${encodeURIComponent(project)}/issues`;
  return {
    listOpen: async () =>
      (await rest.list(`${base}?state=opened&labels=${encodeURIComponent(label)}&per_page=100`)).filter(isObject).map((issue) => ({
        id: String(own(issue, "iid")),
        title: String(own(issue, "title") ?? ""),
        body: String(own(issue, "description") ?? ""),
      })),
    create: async (title, body, isCreated) =>
      void (await rest.call("POST", base, { body: { title, description: body, labels: label }, isCreated })),
    update: async (id, title, body) => void (await rest.call("PUT", `${base}/${id}`, { body: { title, description: body } })),
    comment: async (id, body) => void (await rest.call("POST", `${base}/${id}/notes`, { body: { body } })),
    close: async (id) => void (await rest.call("PUT", `${base}/${id}`, { body: { state_event: "close" } })),
  };
}

/** The merge requests of a project from its own branches. */
export function gitlabMergeRequests(rest: Rest, project: string): PullRequests {
  const base = `/projects/${encodeURIComponent(project)}/merge_requests`;
  return {
    find: async (branch) => {
      const found = await rest.list(`${base}?state=opened&source_branch=${encodeURIComponent(branch)}&per_page=100`);
      // A fork can have a branch of the same name.
      const isOwn = (one: Readonly<Record<string, unknown>>): boolean =>
        own(one, "source_branch") === branch && own(one, "source_project_id") === own(one, "target_project_id");
      const [first] = found.filter(isObject).filter(isOwn);
      return (
        first && { id: String(own(first, "iid")), title: String(own(first, "title") ?? ""), body: String(own(first, "description") ?? "") }
      );
    },
    create: async ({ branch, base: into, title, body }, isCreated) => {
      const request = { title, description: body, source_branch: branch, target_branch: into, remove_source_branch: true };
      await rest.call("POST", base, { body: request, isCreated });
    },
    update: async (id, title, body) => void (await rest.call("PUT", `${base}/${id}`, { body: { title, description: body } })),
    comment: async (id, body) => void (await rest.call("POST", `${base}/${id}/notes`, { body: { body } })),
    close: async (id) => void (await rest.call("PUT", `${base}/${id}`, { body: { state_event: "close" } })),
  };
}
