import { blocks, type Html, html, joined, note } from "../../../../core/render/html/html.ts";
import { documentPage } from "../../../../core/render/html/index.ts";
import { page } from "../../../../core/render/html/page.ts";
import { style } from "../../../../core/render/html/style.ts";
import { counted } from "../../../../core/text/counts.ts";
import { shortDigest } from "../../projects/bundle.ts";
import type { RunDetail } from "../../views/status.ts";
import { type PageReads, runNamed } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { time } from "./shell.ts";
import { accountHref, bundleHref, link } from "./words.ts";

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
        lead: html`${run.error !== undefined && note("bad", html`<p>${run.error.code}</p><p>${run.error.message}</p>`)}`,
        tiles: [],
        parts: [],
        footer: html`<p>run ${run.id}</p>`,
      }),
    };
  const report = documentPage(run.report, options);
  const sent = run.result === undefined ? [] : [resultPart(documentPage(run.result, options))];
  return { style, html: page({ ...report, about: html`${about}${report.about}`, parts: [...sent, ...report.parts] }) };
}

const resultPart = ({ parts, lead }: ReturnType<typeof documentPage>) => ({
  id: "applied",
  title: "What this run sent",
  html: blocks(
    lead,
    parts.map((part) => part.html),
  ),
});

function aboutHtml({ account, id, startedAt, finishedAt, reason, mode, worker, digest, changesSent }: RunDetail): Html {
  const parts = [
    link(accountHref(account), `Account ${account}`),
    `run ${id}`,
    [time(startedAt), " to ", time(finishedAt)],
    `${reason}, mode ${mode}, on ${worker}`,
    digest !== undefined && link(bundleHref(digest), `bundle ${shortDigest(digest)}`),
    changesSent > 0 && `${counted(changesSent, "change")} sent`,
  ];
  return html`<p class="quiet">${joined(parts, " · ")}</p>\n`;
}
