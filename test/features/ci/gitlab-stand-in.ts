import { serve } from "../../support/loopback.ts";

export interface GitlabNote {
  readonly id: number;
  body: string;
  readonly author: { readonly id: number };
}
export interface GitlabIssue {
  readonly iid: number;
  title: string;
  description: string;
  state: "opened" | "closed";
  readonly labels: readonly string[];
  readonly notes: string[];
  readonly author: { readonly id: number };
}
export const gitlabToken = "t";

interface GitlabProject {
  readonly notes?: GitlabNote[];
  readonly issues?: GitlabIssue[];
  /** The last commit of the merge request; absent: GitLab does not say. */
  readonly head?: string;
}

/**
 * The part of GitLab's REST interface that dimsync uses: the notes of merge request 3, and the issues
 * of project 12, for the token of user 5. Returns its URL.
 */
export async function startGitlab({ notes = [], issues = [], head }: GitlabProject) {
  const { url: origin } = await serve((request, response) => {
    const text = request.body;
    const reply = (status: number, value: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const body = (text === "" ? {} : JSON.parse(text)) as Readonly<Record<string, string>>;
    const { pathname, searchParams } = new URL(request.url, "http://x");
    const call = `${request.method} ${pathname.replace("/api/v4", "").replace("/projects/12", "").replace("/merge_requests/3", "")}`;
    const [, id] = /\/(\d+)/u.exec(call) ?? [];
    const note = notes.find((one) => String(one.id) === id);
    const issue = issues.find((one) => String(one.iid) === id);
    if (request.headers["private-token"] !== gitlabToken) reply(401, { message: "401 Unauthorized" });
    else if (call === "GET /user") reply(200, { id: 5 });
    else if (call === "GET /notes") reply(200, notes);
    else if (call === "GET ") reply(200, { sha: head });
    else if (/^GET \/repository\/commits\/[0-9a-f]+$/u.test(call.replace("/merge_requests", "")))
      reply(200, [
        { iid: 2, state: "opened" },
        { iid: 3, state: "merged" },
      ]);
    else if (call === "POST /notes") reply(201, notes.push({ id: 100 + notes.length, body: body["body"] ?? "", author: { id: 5 } }));
    else if (call.startsWith("PUT /notes/") && note !== undefined) {
      note.body = body["body"] ?? "";
      reply(200, note);
    } else if (call === "GET /issues") {
      const [state, label = ""] = [searchParams.get("state"), searchParams.get("labels") ?? ""];
      reply(
        200,
        issues.filter((one) => one.state === state && one.labels.includes(label)),
      );
    } else if (call === "POST /issues") {
      const { title = "", description = "", labels = "" } = body;
      issues.push({ iid: issues.length + 1, title, description, state: "opened", labels: labels.split(","), notes: [], author: { id: 5 } });
      reply(201, issues.at(-1));
    } else if (call.startsWith("POST /issues/") && issue !== undefined) reply(201, { id: issue.notes.push(body["body"] ?? "") });
    else if (call.startsWith("PUT /issues/") && issue !== undefined) {
      const { title, description, state_event: event } = body;
      Object.assign(issue, title === undefined ? {} : { title, description }, event === "close" ? { state: "closed" } : {});
      reply(200, issue);
    } else reply(404, { message: "404 Not found" });
  });
  return `${origin}/api/v4`;
}
