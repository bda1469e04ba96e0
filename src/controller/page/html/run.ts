import { escaped } from "../../../render/html/escape.ts";
import { documentPage } from "../../../render/html/index.ts";
import { page } from "../../../render/html/page.ts";
import { style } from "../../../render/html/style.ts";
import { counted } from "../../../text/counts.ts";
import { joinParts } from "../../../text/lists.ts";
import type { RunDetail } from "../../views/status.ts";
import { runNamed } from "../named.ts";
import type { PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { time } from "./shell.ts";
import { accountHref, bundleHref, link, shortDigest } from "./words.ts";

/** `/runs/ID`: the report of the run, as `drift -o html` writes it, and what the run sent. */
export async function runPage(reads: PageReads, _: PageRequest, id: string): Promise<HtmlPage> {
  const run = await runNamed(reads, id);
  const about = aboutHtml(run);
  const options = { color: false, verbose: false };
  if (run.report === undefined)
    return {
      style,
      html: page({
        title: `Run on ${run.account}`,
        titleNote: "failed before it had a report",
        about,
        lead:
          run.error === undefined
            ? ""
            : `<div class="note bad"><p>${escaped(run.error.code)}</p><p>${escaped(run.error.message)}</p></div>`,
        tiles: [],
        parts: [],
        footer: `<p>run ${escaped(run.id)}</p>`,
      }),
    };
  const report = documentPage(run.report, options);
  const sent = run.result === undefined ? [] : resultParts(documentPage(run.result, options));
  return { style, html: page({ ...report, about: `${about}${report.about}`, parts: [...sent, ...report.parts] }) };
}

type Parts = ReturnType<typeof documentPage>;

/** What the run applied, before what it found. */
const resultParts = ({ parts, lead }: Parts): Parts["parts"] => [
  { id: "applied", title: "What this run sent", html: joinParts([lead, ...parts.map(({ html }) => html)], "\n") },
];

function aboutHtml({ account, id, startedAt, finishedAt, reason, mode, worker, digest, changesSent }: RunDetail): string {
  const parts = [
    link(accountHref(account), `Account ${escaped(account)}`),
    `run ${escaped(id)}`,
    `${time(startedAt)} to ${time(finishedAt)}`,
    `${escaped(reason)}, mode ${escaped(mode)}, on ${escaped(worker)}`,
    digest === undefined ? "" : link(bundleHref(digest), `bundle ${escaped(shortDigest(digest))}`),
    changesSent === 0 ? "" : `${counted(changesSent, "change")} sent`,
  ];
  return `<p class="quiet">${joinParts(parts, " · ")}</p>\n`;
}
