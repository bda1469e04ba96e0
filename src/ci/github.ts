import { isObject, own } from "../model/json.ts";
import type { Notes } from "./comments.ts";
import type { Issues } from "./issues.ts";
import type { Rest } from "./rest.ts";

// Who may write in the repository; anybody else could put our marker into a comment of his own.
const members = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** The comments of a pull request. `repository` is "owner/name". */
export function pullRequestNotes(rest: Rest, repository: string, number: number): Notes {
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
    create: async (body) => void (await rest.call("POST", `${base}/${number}/comments`, { body })),
    update: async (id, body) => void (await rest.call("PATCH", `${base}/comments/${id}`, { body })),
  };
}

/** The issues of a repository that bear one label. Creating one with a label that isn't there creates the label. */
export function labelledIssues(rest: Rest, repository: string, label: string): Issues {
  const base = `/repos/${repository}/issues`;
  return {
    listOpen: async () =>
      (await rest.list(`${base}?state=open&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        // Pull requests are issues too.
        .filter((issue) => own(issue, "pull_request") === undefined)
        .map((issue) => ({
          id: String(own(issue, "number")),
          title: String(own(issue, "title") ?? ""),
          body: String(own(issue, "body") ?? ""),
        })),
    create: async (title, body) => void (await rest.call("POST", base, { title, body, labels: [label] })),
    update: async (id, title, body) => void (await rest.call("PATCH", `${base}/${id}`, { title, body })),
    comment: async (id, body) => void (await rest.call("POST", `${base}/${id}/comments`, { body })),
    close: async (id) => void (await rest.call("PATCH", `${base}/${id}`, { state: "closed", state_reason: "completed" })),
  };
}
