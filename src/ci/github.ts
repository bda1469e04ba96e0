import type { Rest } from "../forge/rest.ts";
import { isObject, own } from "../model/json/json.ts";
import type { Comments } from "./comments.ts";
import type { Issues } from "./issues.ts";
import type { PullRequests } from "./pull-requests.ts";

// Users who may write to the repository. Others could copy our marker into a comment.
const members = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** The comments of a pull request. `repository`: "owner/name". */
export function pullRequestComments(rest: Rest, repository: string, number: string): Comments {
  const base = `/repos/${repository}/issues`;
  return {
    list: async () =>
      (await rest.list(`${base}/${number}/comments?per_page=100`)).filter(isObject).map((comment) => {
        const user = own(comment, "user");
        const isBot = isObject(user) && own(user, "type") === "Bot";
        return {
          id: String(own(comment, "id")),
          body: String(own(comment, "body") ?? ""),
          isTrusted: isBot || members.has(String(own(comment, "author_association"))),
        };
      }),
    create: async (body, isCreated) => void (await rest.call("POST", `${base}/${number}/comments`, { body: { body }, isCreated })),
    update: async (id, body) => void (await rest.call("PATCH", `${base}/comments/${id}`, { body: { body } })),
    remove: async (id) => void (await rest.call("DELETE", `${base}/comments/${id}`)),
  };
}

/**
 * The issues of a repository that have the label. Creating an issue also creates a missing label.
 */
export function githubIssues(rest: Rest, repository: string, label: string): Issues {
  const base = `/repos/${repository}/issues`;
  return {
    listOpen: async () =>
      (await rest.list(`${base}?state=open&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        // GitHub lists pull requests as issues, too.
        .filter((issue) => own(issue, "pull_request") === undefined)
        .map((issue) => ({
          id: String(own(issue, "number")),
          title: String(own(issue, "title") ?? ""),
          body: String(own(issue, "body") ?? ""),
        })),
    create: async (title, body, isCreated) => void (await rest.call("POST", base, { body: { title, body, labels: [label] }, isCreated })),
    update: async (id, title, body) => void (await rest.call("PATCH", `${base}/${id}`, { body: { title, body } })),
    comment: async (id, body) => void (await rest.call("POST", `${base}/${id}/comments`, { body: { body } })),
    close: async (id) => void (await rest.call("PATCH", `${base}/${id}`, { body: { state: "closed", state_reason: "completed" } })),
  };
}

/** The pull requests of a repository from its own branches. `repository`: "owner/name". */
export function githubPullRequests(rest: Rest, repository: string): PullRequests {
  const [base, issues] = [`/repos/${repository}/pulls`, `/repos/${repository}/issues`];
  const [owner = ""] = repository.split("/");
  return {
    find: async (branch) => {
      const head = `${owner}:${branch}`;
      const found = await rest.list(`${base}?state=open&head=${encodeURIComponent(head)}&per_page=100`);
      const [first] = found.filter(isObject).filter((pull) => labelOf(pull) === head);
      return (
        first && { id: String(own(first, "number")), title: String(own(first, "title") ?? ""), body: String(own(first, "body") ?? "") }
      );
    },
    create: async ({ branch, base: into, title, body }, isCreated) =>
      void (await rest.call("POST", base, { body: { title, body, head: branch, base: into }, isCreated })),
    update: async (id, title, body) => void (await rest.call("PATCH", `${base}/${id}`, { body: { title, body } })),
    comment: async (id, body) => void (await rest.call("POST", `${issues}/${id}/comments`, { body: { body } })),
    close: async (id) => void (await rest.call("PATCH", `${base}/${id}`, { body: { state: "closed" } })),
  };
}

/** "owner:branch": a server that ignores the filter lists others, too. */
function labelOf(pull: Readonly<Record<string, unknown>>): unknown {
  const head = own(pull, "head");
  return isObject(head) ? own(head, "label") : undefined;
}
