import type { Plan } from "../model/plan.ts";
import { renderMarkdown } from "../render/markdown/index.ts";
import { hasChanges, summaryLine } from "../render/report/totals.ts";
import { cutMiddle } from "../text/values.ts";

export interface Issue {
  readonly id: string;
  readonly title: string;
  readonly body: string;
}

export interface Issues {
  /** The open issues that have our label. */
  readonly listOpen: () => Promise<readonly Issue[]>;
  /** `isCreated`: looks up whether an attempt without a response created the issue. */
  readonly create: (title: string, body: string, isCreated: () => Promise<boolean>) => Promise<void>;
  readonly update: (id: string, title: string, body: string) => Promise<void>;
  readonly comment: (id: string, body: string) => Promise<void>;
  readonly close: (id: string) => Promise<void>;
}

const maxTitleCharacters = 200;

/**
 * Keeps the issue of a target in line with its drift report: opens it if the account differs,
 * updates it while it does, and closes it afterwards. An incomplete report does not show that the
 * drift is resolved, so it does not close the issue.
 */
export async function upsertDriftIssue(
  issues: Issues,
  report: Plan,
  { marker, footer }: { readonly marker: string; readonly footer: string },
): Promise<"created" | "updated" | "same" | "closed" | "none"> {
  const findOurs = async (): Promise<Issue | undefined> => (await issues.listOpen()).find(({ body }) => body.startsWith(marker));
  const found = await findOurs();
  const isDrift = hasChanges(report) || report.exit.code === 2 || report.exit.code === 3;
  if (!isDrift) {
    if (found === undefined || !report.complete || report.exit.code !== 0) return "none";
    await issues.comment(found.id, `${summaryLine(report)}\n\n${footer}`);
    await issues.close(found.id);
    return "closed";
  }
  const title = cutMiddle(summaryLine(report), maxTitleCharacters);
  const body = `${marker}\n${renderMarkdown(report, { color: false, verbose: false })}\n${footer}`;
  if (found === undefined) {
    await issues.create(title, body, async () => (await findOurs()) !== undefined);
    return "created";
  }
  if (found.title === title && withoutFooter(found.body, footer) === withoutFooter(body, footer)) return "same";
  await issues.update(found.id, title, body);
  return "updated";
}

/** The footer links the run, which is a new one each day. */
const withoutFooter = (body: string, footer: string): string =>
  body.replaceAll("\r\n", "\n").split("\n").slice(0, -footer.split("\n").length).join("\n").trim();
