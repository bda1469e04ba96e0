import { createHash } from "node:crypto";
import { escaped } from "./escape.ts";
import { style } from "./style.ts";

/** One part of a page: a heading that the list of contents leads to. `html` is its content; an empty part is left out. */
export interface Part {
  readonly id: string;
  readonly title: string;
  /** Shown beside the title. */
  readonly count?: number;
  readonly html: string;
}

export interface Page {
  readonly title: string;
  /** HTML below the title: what it is about and how it ended. */
  readonly lead: string;
  readonly parts: readonly Part[];
  /** HTML. */
  readonly footer: string;
}

// The style is the only thing that the page may use: neither script nor image nor connection, whatever a name in it holds.
const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** A whole document: one file, no network, no script. */
export function page({ title, lead, parts, footer }: Page): string {
  const shown = parts.filter(({ html }) => html !== "");
  const name = ({ title: text, count }: Part): string =>
    `${escaped(text)}${count === undefined ? "" : ` <span class="quiet">(${count})</span>`}`;
  const contents =
    shown.length < 2
      ? ""
      : `<nav aria-label="Contents"><ul>${shown.map((part) => `<li><a href="#${part.id}">${name(part)}</a></li>`).join("")}</ul></nav>\n`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<div class="page">
<header>
<h1>${escaped(title)}</h1>
${lead}
${contents}</header>
<main id="main">
${shown.map((part) => `<section aria-labelledby="${part.id}">\n<h2 id="${part.id}">${name(part)}</h2>\n${part.html}\n</section>`).join("\n")}
</main>
<footer>
${footer}
</footer>
</div>
</body>
</html>
`;
}
