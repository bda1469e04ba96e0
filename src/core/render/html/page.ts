import { createHash } from "node:crypto";
import type { StateCount } from "../report/totals.ts";
import { blocks, type Html, html, isEmpty, joined, markupOf, quiet } from "./html.ts";
import { style } from "./style.ts";

/** One part of a page, with an entry in the contents. A part without content is left out. */
export interface PagePart {
  readonly id: string;
  readonly title: string;
  /** Shown beside the title. */
  readonly count?: number;
  /** A warning beside the title. */
  readonly titleNote?: string;
  readonly html: Html;
  /** Shown below the title. */
  readonly tiles?: readonly StateCount[];
  /** Whether it belongs to the part before it, and has no entry in the contents. */
  readonly isBelow?: boolean;
}

export interface Page {
  readonly title: string;
  /** A warning beside the title; "" if there is none. */
  readonly titleNote: string;
  /** Below the title: the account, the time and the commit. */
  readonly about: Html;
  /** How it ended. */
  readonly lead: Html;
  readonly tiles: readonly StateCount[];
  readonly parts: readonly PagePart[];
  readonly footer: Html;
  /** Style sheet after the shared one. */
  readonly extraStyle?: Html;
}

// The page may only use its style: no scripts, images or connections, whatever a name contains.
const policyFor = (css: Html): Html =>
  html`default-src 'none'; style-src 'sha256-${createHash("sha256").update(markupOf(css)).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** A whole HTML document. */
export function page({ title, titleNote, about, lead, tiles, parts, footer, extraStyle }: Page): Html {
  const css = html`${style}${extraStyle}`;
  const shown = parts.filter((part) => !isEmpty(part.html));
  const ids = new Set(shown.map(({ id }) => id));
  // Parts of several targets are reached from the table of targets.
  const listed = shown.some(({ isBelow }) => isBelow === true) ? [] : shown;
  const contents =
    listed.length > 1 &&
    html`<nav aria-label="Contents"><ul>${listed.map((part) => html`<li><a href="#${part.id}">${nameHtml(part)}</a></li>`)}</ul></nav>\n`;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policyFor(css)}">
<title>${joined([title, titleNote], " ")}</title>
<style>${css}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
<h1>${titleHtml(title, titleNote)}</h1>
${blocks(about, lead, tileList(tiles, ids), contents)}</header>
<main id="main">
${blocks(shown.map((part) => section(part, ids)))}
</main>
<footer>
${footer}
</footer>
</div>
</body>
</html>
`;
}

const titleHtml = (title: string, note: string): Html => joined([title, note !== "" && html`<span class="warned">${note}</span>`], " ");

const nameHtml = ({ title, count = 0, titleNote = "" }: PagePart): Html =>
  joined([titleHtml(title, titleNote), quiet(count > 0 && `(${count})`)], " ");

function section(part: PagePart, ids: ReadonlySet<string>): Html {
  const { id, tiles = [], isBelow } = part;
  const content = html`${part.html}\n${tileList(tiles, ids)}</section>`;
  // Landmarks need different names, and parts of several targets have the same.
  return isBelow === true
    ? html`<section>\n<h3 id=${id}>${nameHtml(part)}</h3>\n${content}`
    : html`<section class=${tiles.length > 0 && "target"} aria-labelledby=${id}>\n<h2 id=${id}>${nameHtml(part)}</h2>\n${content}`;
}

/** The numbers that are not 0. Each links to its part if the page has it. */
function tileList(tiles: readonly StateCount[], ids: ReadonlySet<string>): Html {
  const drawn = tiles
    .filter(({ count }) => count > 0)
    .map(({ label, count, part, isAlarm }) => {
      const number = html`<strong>${count}</strong> <span>${label}</span>`;
      const content = ids.has(part) ? html`<a href="#${part}">${number}</a>` : html`<div>${number}</div>`;
      return html`<li class=${isAlarm === true && "alarm"}>${content}</li>`;
    });
  return drawn.length === 0 ? html`` : html`<ul class="tiles">${drawn}</ul>\n`;
}
