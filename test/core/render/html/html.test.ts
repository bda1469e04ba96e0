// Only the tag html makes markup.
import { describe, expect, test } from "vitest";
import { andMore, blocks, code, type Html, type HtmlContent, html, joined, list, markupOf } from "../../../../src/core/render/html/html.ts";

const hostile = `</p><script>"'&\u202e`;
const escaped = "&lt;/p&gt;&lt;script&gt;&quot;&#39;&amp;\\u202e";

describe("the tag html", () => {
  test.each<[string, HtmlContent, string]>([
    ["escapes text", html`<p>${hostile}</p>`, `<p>${escaped}</p>`],
    ["escapes text in attributes", html`<a href=${hostile} title="${hostile}">`, `<a href="${escaped}" title="${escaped}">`],
    ["escapes texts in lists", html`${["<", ["&"]]}`, "&lt;&amp;"],
    ["takes markup as it is", html`<p>${html`<b>${"<"}</b>`}</p>`, "<p><b>&lt;</b></p>"],
    ["prints numbers, also 0", html`${0} of ${12}`, "0 of 12"],
    ["prints nothing for undefined and false", html`<p>${undefined}${false}</p>`, "<p></p>"],
    ["leaves out an attribute of undefined or false", html`<p id=${undefined} hidden=${false}>`, "<p>"],
    ["prints the name alone for true", html`<p hidden=${true} id=${""}>`, '<p hidden id="">'],
    ["takes = at its end as text", html`a =`, "a ="],
  ])("%s", (_, content, expected) => {
    expect(markupOf(content)).toBe(expected);
  });

  test("is the only way to make markup", () => {
    // @ts-expect-error a text is not markup
    const text: Html = "<b>";
    expect(markupOf(text)).toBe("&lt;b&gt;");
    expect(markupOf(JSON.parse('["<b>"]'))).toBe("&lt;b&gt;");
  });
});

test("what is empty gets no separator and no element", () => {
  expect(markupOf(joined(["a", "", undefined, html``, "<"], html`<br>`))).toBe("a<br>&lt;");
  expect(markupOf(blocks(list([]), code(""), "a"))).toBe("a");
  expect(markupOf(andMore(["<", html`<b>b</b>`, "c", "d"], "name", { shown: 2 }))).toBe("&lt;, <b>b</b> and 2 more names");
});
