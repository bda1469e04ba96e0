import { createHash } from "node:crypto";
import { joinParts } from "../../text/lists.ts";
import type { StateCount } from "../report/targets.ts";
import { escaped } from "./escape.ts";
import { style } from "./style.ts";

/** One part of a page, with an entry in the contents. A part without content is left out. */
export interface Part {
  readonly id: string;
  readonly title: string;
  /** Shown beside the title. */
  readonly count?: number;
  /** A warning beside the title. */
  readonly titleNote?: string;
  /** HTML. */
  readonly html: string;
  /** Shown below the title. */
  readonly tiles?: readonly Tile[];
  /** Whether it belongs to the part before it, and has no entry in the contents. */
  readonly isBelow?: boolean;
}

/** One number at the top of a page; `part` is the id of the part that explains it. */
export type Tile = StateCount;

export interface Page {
  readonly title: string;
  /** A warning beside the title; "" if there is none. */
  readonly titleNote: string;
  /** HTML below the title: the account, the time and the commit. */
  readonly about: string;
  /** HTML: how it ended. */
  readonly lead: string;
  readonly tiles: readonly Tile[];
  readonly parts: readonly Part[];
  /** HTML. */
  readonly footer: string;
  /** Style sheet after the shared one. */
  readonly extraStyle?: string;
}

// The page may only use its style: no scripts, images or connections, whatever a name contains.
const policyFor = (css: string): string =>
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(css).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** A whole HTML document. */
export function page({ title, titleNote, about, lead, tiles, parts, footer, extraStyle = "" }: Page): string {
  const css = style + extraStyle;
  const shown = parts.filter(({ html }) => html !== "");
  const ids = new Set(shown.map(({ id }) => id));
  const name = ({ title: text, count, titleNote: note = "" }: Part): string =>
    `${titleHtml(text, note)}${count === undefined || count === 0 ? "" : ` <span class="quiet">(${count})</span>`}`;
  // Parts of several targets are reached from the table of targets.
  const listed = shown.some(({ isBelow }) => isBelow === true) ? [] : shown;
  const contents =
    listed.length < 2
      ? ""
      : `<nav aria-label="Contents"><ul>${listed.map((part) => `<li><a href="#${part.id}">${name(part)}</a></li>`).join("")}</ul></nav>\n`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policyFor(css)}">
<title>${escaped(joinParts([title, titleNote], " "))}</title>
<style>${css}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
<h1>${titleHtml(title, titleNote)}</h1>
${[about, lead, tileList(tiles, ids), contents].filter((part) => part !== "").join("\n")}</header>
<main id="main">
${shown.map((part) => section(part, name(part), ids)).join("\n")}
</main>
<footer>
${footer}
</footer>
</div>
</body>
</html>
`;
}

const titleHtml = (title: string, note: string): string =>
  joinParts([escaped(title), note === "" ? "" : `<span class="warned">${escaped(note)}</span>`], " ");

function section({ id, html, tiles = [], isBelow }: Part, title: string, ids: ReadonlySet<string>): string {
  const content = `${html}\n${tileList(tiles, ids)}</section>`;
  const style = tiles.length === 0 ? "" : ' class="target"';
  // Landmarks need different names, and parts of several targets have the same.
  return isBelow === true
    ? `<section>\n<h3 id="${id}">${title}</h3>\n${content}`
    : `<section${style} aria-labelledby="${id}">\n<h2 id="${id}">${title}</h2>\n${content}`;
}

/** The numbers. Each links to its part if the page has it. */
function tileList(tiles: readonly Tile[], ids: ReadonlySet<string>): string {
  const drawn = tiles.map(({ label, count, part, isAlarm }) => {
    const number = `<strong>${count}</strong> <span>${escaped(label)}</span>`;
    const content = ids.has(part) && count > 0 ? `<a href="#${part}">${number}</a>` : `<div>${number}</div>`;
    return `<li${isAlarm === true ? ' class="alarm"' : ""}>${content}</li>`;
  });
  return drawn.length === 0 ? "" : `<ul class="tiles">${drawn.join("")}</ul>\n`;
}
