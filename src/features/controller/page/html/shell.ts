import { base, blocks, type Content, type Html, html, joined, note, quiet } from "../../../../core/render/html/html.ts";
import { timeText } from "../../../../core/render/report/attribution.ts";
import type { HtmlPage, Problem } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { refreshScript } from "./refresh.ts";
import { pageStyle } from "./style.ts";

/** A part of a page. One that can change is replaced when the page refreshes itself, so it is there even if it is empty. */
interface Section {
  readonly id: string;
  /** "" for a part without a heading. */
  readonly title: string;
  readonly html: Content;
  /** Shown beside the title. */
  readonly count?: number;
  /** Whether it stays when the page refreshes itself, such as a form that someone fills in. */
  readonly isFixed?: boolean;
}

interface ShellOptions {
  readonly title: string;
  /** The most important number, for the title of a tab in the background: "6 exposed". */
  readonly tabNote?: string | undefined;
  readonly note?: Html;
  readonly about?: Html;
  /** The pages above this one. */
  readonly crumbs?: Html;
  readonly sections: readonly Section[];
  readonly now: Date;
  readonly isLive: boolean;
  readonly login?: PageRequest["login"];
  /** A path that it goes to at once. */
  readonly reload?: string | undefined;
}

export const accountsCrumb = html`<nav aria-label="Breadcrumb" class="crumbs"><ol><li><a href="${base}/">Accounts</a></li></ol></nav>\n`;

/** A page of the controller. Without JavaScript it is complete, but does not refresh itself. */
export function shell({ title, tabNote, note: beside, about, crumbs, sections, now, isLive, login, reload }: ShellOptions): HtmlPage {
  return {
    html: html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
${reload !== undefined && html`<meta http-equiv="refresh" content="0;url=${base}${reload}">\n`}<title>${joined([tabNote, title, "dimsync"], " · ")}</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
${crumbs}<h1>${joined([title, beside], " ")}</h1>
<div id="about" data-live>${about}</div>
${isLive && html`<p class="note bad" id="lost" role="status" hidden></p>\n`}</header>
<main id="main">
${blocks(sections.map(section))}
</main>
<footer>
<p>dimsync controller · state at ${time(now.toISOString())}<span id="refresh"></span> · <a href="${base}/api/v1/openapi.json">API</a> · <a href="${base}/metrics">Metrics</a></p>
${login === "done" && html`<form method="post" action="${base}/logout"><button>Sign out</button></form>\n`}</footer>
</div>
${isLive && html`<script>${refreshScript}</script>\n`}</body>
</html>
`,
    style: pageStyle,
    ...(isLive ? { script: refreshScript } : {}),
  };
}

function section({ id, title, html: content, count = 0, isFixed = false }: Section): Html {
  if (title === "") return html`<section id=${id} data-live=${!isFixed}>\n${content}\n</section>`;
  const heading = joined([title, quiet(count > 0 && `(${count})`)], " ");
  return html`<section id=${id} data-live=${!isFixed} aria-labelledby="${id}-title">\n<h2 id="${id}-title">${heading}</h2>\n${content}\n</section>`;
}

/** Terms with their texts. */
export const facts = (all: readonly (readonly [term: string, text: Content])[]): Html =>
  html`<dl class="facts">${all.map(([term, text]) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)}</dl>`;

/** A time, as "2026-03-01 09:00 UTC". */
export const time = (iso: string): Html => html`<time datetime=${iso}>${timeText(iso)}</time>`;

/** A page that says why there is no result, and what to do. */
export const problemPage = ({ status, title, detail }: Problem, { now, login }: PageRequest): HtmlPage =>
  shell({
    title,
    crumbs: accountsCrumb,
    now,
    login,
    isLive: false,
    sections: [{ id: "problem", title: "", html: html`${note("bad", html`<p>${detail}</p>`)}\n<p class="quiet">Status ${status}</p>` }],
  });
