import { DimsyncError } from "../../core/base/model/errors.ts";
import { isObject, memberAt, own } from "../../core/base/model/json/json.ts";
import { once } from "../../core/base/model/maps.ts";
import type { Rest } from "../../core/operations/forge/index.ts";
import type { Comments } from "./comments.ts";
import type { Issue, Issues } from "./issues.ts";

/** Whether the token's own user wrote a comment or an issue. Anyone could copy the marker. */
function ownership(rest: Rest): () => Promise<(of: Members) => boolean> {
  const viewer = once(async () => {
    const answer = await rest.call("POST", "/graphql", { body: { query: "{ viewer { login } }" } }).catch((error: unknown) => {
      if (error instanceof DimsyncError && error.code !== "E_INTERRUPTED") return undefined;
      throw error;
    });
    const login = memberAt(answer, "data", "viewer", "login");
    return typeof login === "string" ? login : "github-actions[bot]";
  });
  return async () => {
    const login = await viewer();
    return (one) => memberAt(one, "user", "login") === login;
  };
}

type Members = Readonly<Record<string, unknown>>;

/** The comments of a pull request. `repository`: "owner/name". */
export function pullRequestComments(rest: Rest, repository: string, number: string): Comments {
  const base = `/repos/${repository}/issues`;
  const isOwn = ownership(rest);
  return {
    list: async () =>
      (await rest.list(`${base}/${number}/comments?per_page=100`))
        .filter(isObject)
        .filter(await isOwn())
        .map((comment) => ({ id: String(own(comment, "id")), body: String(own(comment, "body") ?? "") })),
    request: async () => {
      const pull = await rest.call("GET", `/repos/${repository}/pulls/${number}`);
      const sha = memberAt(pull, "head", "sha");
      return { head: typeof sha === "string" ? sha : undefined, isMerged: typeof memberAt(pull, "merged_at") === "string" };
    },
    create: async (body, isCreated) => void (await rest.call("POST", `${base}/${number}/comments`, { body: { body }, isCreated })),
    update: async (id, body) => void (await rest.call("PATCH", `${base}/comments/${id}`, { body: { body } })),
    remove: async (id) => void (await rest.call("DELETE", `${base}/comments/${id}`)),
  };
}

/** The numbers of the merged pull requests that a commit belongs to. */
export const mergedPullRequests = async (rest: Rest, repository: string, commit: string): Promise<readonly string[]> =>
  (await rest.list(`/repos/${repository}/commits/${commit}/pulls?per_page=100`))
    .filter(isObject)
    .filter((pull) => typeof own(pull, "merged_at") === "string")
    .map((pull) => String(own(pull, "number")));

/** The issue with the label whose text begins with the marker. Creating it also creates a missing label. */
export function githubIssues(
  rest: Rest,
  repository: string,
  { label, marker }: { readonly label: string; readonly marker: string },
): Issues {
  const path = `/repos/${repository}/issues`;
  const isOwn = ownership(rest);
  return {
    find: async () =>
      (await rest.list(`${path}?state=open&labels=${encodeURIComponent(label)}&per_page=100`))
        .filter(isObject)
        .filter(await isOwn())
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

const issueOf = (issue: Members): Issue => ({
  id: String(own(issue, "number")),
  title: String(own(issue, "title") ?? ""),
  body: String(own(issue, "body") ?? ""),
});
