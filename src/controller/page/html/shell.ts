import { escaped } from "../../../render/html/escape.ts";
import { timeText } from "../../../render/report/attribution.ts";
import { joinParts } from "../../../text/lists.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { refreshScript } from "./refresh.ts";
import { pageStyle } from "./style.ts";

/** A part of a page. One that can change is replaced when the page refreshes itself, so it is there even if it is empty. */
export interface Section {
  readonly id: string;
  /** "" for a part without a heading. */
  readonly title: string;
  /** HTML. */
  readonly html: string;
  /** Shown beside the title. */
  readonly count?: number;
  /** Whether it stays when the page refreshes itself, such as a form that someone fills in. */
  readonly isFixed?: boolean;
}

export interface ShellOptions {
  readonly title: string;
  /** The most important number, for the title of a tab in the background: "6 exposed". */
  readonly tabNote?: string;
  /** HTML: beside the title. */
  readonly note?: string;
  /** HTML: below the title. */
  readonly about?: string;
  /** The pages above this one. */
  readonly crumbs?: readonly (readonly [text: string, href: string])[];
  readonly sections: readonly Section[];
  readonly now: Date;
  /** Whether it refreshes itself. */
  readonly isLive: boolean;
  readonly login?: PageRequest["login"];
  /** A path that it goes to at once. */
  readonly reload?: string;
}

/** A page of the controller. Without JavaScript it is complete, but does not refresh itself. */
export function shell({
  title,
  tabNote = "",
  note = "",
  about = "",
  crumbs = [],
  sections,
  now,
  isLive,
  login,
  reload,
}: ShellOptions): HtmlPage {
  const path = crumbs.map(([text, href]) => `<li><a href="${escaped(href)}">${escaped(text)}</a></li>`).join("");
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
${reload === undefined ? "" : `<meta http-equiv="refresh" content="0;url=${escaped(reload)}">\n`}<title>${escaped(joinParts([tabNote, title, "dimsync"], " · "))}</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
${path === "" ? "" : `<nav aria-label="Breadcrumb" class="crumbs"><ol>${path}</ol></nav>\n`}<h1>${joinParts([escaped(title), note], " ")}</h1>
<div id="about" data-live>${about}</div>
${isLive ? '<p class="note bad" id="lost" role="status" hidden></p>\n' : ""}</header>
<main id="main">
${sections.map(section).join("\n")}
</main>
<footer>
<p>dimsync controller · state at ${time(now.toISOString())}<span id="refresh"></span> · <a href="/api/v1/openapi.json">API</a> · <a href="/metrics">Metrics</a></p>
${login === "done" ? '<form method="post" action="/logout"><button>Sign out</button></form>\n' : ""}</footer>
</div>
${isLive ? `<script>${refreshScript}</script>\n` : ""}</body>
</html>
`;
  return { html, style: pageStyle, ...(isLive ? { script: refreshScript } : {}) };
}

function section({ id, title, html, count, isFixed = false }: Section): string {
  const live = isFixed ? "" : " data-live";
  if (title === "") return `<section id="${id}"${live}>\n${html}\n</section>`;
  const number = count === undefined || count === 0 ? "" : ` <span class="quiet">(${count})</span>`;
  return `<section id="${id}"${live} aria-labelledby="${id}-title">\n<h2 id="${id}-title">${escaped(title)}${number}</h2>\n${html}\n</section>`;
}

/** A time, as "2026-03-01 09:00 UTC". */
export const time = (iso: string): string => `<time datetime="${escaped(iso)}">${escaped(timeText(iso))}</time>`;
