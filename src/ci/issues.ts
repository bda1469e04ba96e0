import type { Plan } from "../model/plan.ts";
import { hasChanges, summaryLine } from "../render/machine/github.ts";
import { renderMarkdown } from "../render/markdown/index.ts";
import { cutMiddle } from "../text/values.ts";

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

/** The open issues that may be ours, and what can be done with them. */
export interface Issues {
  readonly listOpen: () => Promise<readonly Issue[]>;
  readonly create: (title: string, body: string) => Promise<void>;
  readonly update: (id: string, title: string, body: string) => Promise<void>;
  readonly comment: (id: string, body: string) => Promise<void>;
  readonly close: (id: string) => Promise<void>;
}

const mostTitleCharacters = 200;

/**
 * Keeps one issue per target equal to the drift report: opened where the account differs, updated while it does, closed when it no longer does. An
 * incomplete report proves nothing, so it closes nothing.
 */
export async function putDriftIssue(
  issues: Issues,
  report: Plan,
  { marker, footer }: { readonly marker: string; readonly footer: string },
): Promise<"created" | "updated" | "same" | "closed" | "none"> {
  const found = (await issues.listOpen()).find(({ body }) => body.startsWith(marker));
  const differs = hasChanges(report) || report.exit.code === 2 || report.exit.code === 3;
  if (!differs) {
    if (found === undefined || !report.complete || report.exit.code !== 0) return "none";
    await issues.comment(found.id, `${summaryLine(report)}\n\n${footer}`);
    await issues.close(found.id);
    return "closed";
  }
  const title = cutMiddle(summaryLine(report), mostTitleCharacters);
  const body = `${marker}\n${renderMarkdown(report, { color: false, verbose: false })}\n${footer}`;
  if (found === undefined) {
    await issues.create(title, body);
    return "created";
  }
  if (found.title === title && withoutFooter(found.body, footer) === withoutFooter(body, footer)) return "same";
  await issues.update(found.id, title, body);
  return "updated";
}

/** The footer names the run, which is another one each day. */
const withoutFooter = (body: string, footer: string): string =>
  body.replaceAll("\r\n", "\n").split("\n").slice(0, -footer.split("\n").length).join("\n").trim();
