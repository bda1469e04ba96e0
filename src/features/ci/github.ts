import type { Rest } from "../../core/forge/rest.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import type { Comments } from "./comments.ts";
import type { Issue, Issues } from "./issues.ts";

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

/** The issue with the label whose text begins with the marker. Creating it also creates a missing label. */
export function githubIssues(
  rest: Rest,
  repository: string,
  { label, marker }: { readonly label: string; readonly marker: string },
): Issues {
  const path = `/repos/${repository}/issues`;
  return {
    find: async () =>
      (await rest.list(`${path}?state=open&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        // GitHub lists pull requests as issues, too.
        .filter((issue) => own(issue, "pull_request") === undefined)
        .map(issueOf)
        .find(({ body }) => body.startsWith(marker)),
    create: async (title, body, isCreated) => void (await rest.call("POST", path, { body: { title, body, labels: [label] }, isCreated })),
    update: async (id, title, body) => void (await rest.call("PATCH", `${path}/${id}`, { body: { title, body } })),
    comment: async (id, body) => void (await rest.call("POST", `${path}/${id}/comments`, { body: { body } })),
    close: async (id) => void (await rest.call("PATCH", `${path}/${id}`, { body: { state: "closed", state_reason: "completed" } })),
  };
}

const issueOf = (issue: Readonly<Record<string, unknown>>): Issue => ({
  id: String(own(issue, "number")),
  title: String(own(issue, "title") ?? ""),
  body: String(own(issue, "body") ?? ""),
});
