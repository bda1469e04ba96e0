// A new section is a value that the report makes. No layout knows it.
import { expect, test } from "vitest";
import { code, name, type Section, word } from "../../../src/core/render/blocks.ts";
import { markupOf } from "../../../src/core/render/html/html.ts";
import { pageOf } from "../../../src/core/render/html/index.ts";
import { page } from "../../../src/core/render/html/page.ts";
import { drawMarkdown } from "../../../src/core/render/markdown/index.ts";
import { reportOf } from "../../../src/core/render/report.ts";
import { drawHuman } from "../../../src/core/render/terminal/index.ts";
import { fullPlan } from "./full-plan.ts";

const hostile = "<b>|`\u202e";
const section: Section = {
  ...{ id: "stale-connections", title: "Stale connections", count: 1, part: "work" },
  entries: [
    {
      ...{ sign: "!", tone: "warn" },
      head: [[name(`Asset/${hostile}`)], [word("stale", "warn")]],
      notes: [["Nobody has used it for 90 days."]],
      rows: [[[code("connection.host")], ["db.internal"]]],
      commands: ["dimsync explain Asset/lake"],
    },
  ],
};

const options = { color: false, verbose: false };
const report = reportOf(fullPlan, options);
const longer = { ...report, sections: [...report.sections, section] };

test("a section that the report adds is drawn by a terminal", () => {
  expect(drawHuman(longer, options)).toContain(
    `Stale connections (1):
! Asset/<b>|\`\\u202e   stale
    Nobody has used it for 90 days.
    connection.host   db.internal
      dimsync explain Asset/lake
`,
  );
});

test("in Markdown", () => {
  expect(drawMarkdown(longer, "full")).toContain(
    "### Stale connections (1)\n\n- `!` <code>Asset/&#60;b&#62;&#124;&#96;&#92;u202e</code> **stale**<br>Nobody has used it for 90 days.<br>`connection.host` db.internal<br>`dimsync explain Asset/lake`\n",
  );
});

test("and on a page, with an entry in the contents", () => {
  const html = markupOf(page(pageOf(longer)));
  expect(html).toContain('<a href="#stale-connections">Stale connections');
  expect(html).toContain("<strong>Asset/&lt;b&gt;|`\\u202e</strong>");
  expect(html).toContain("<pre>dimsync explain Asset/lake</pre>");
});
