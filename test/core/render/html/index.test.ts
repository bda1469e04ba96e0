// The page has everything that a plan has, and loads and runs nothing.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { formats } from "../../../../src/core/render/formats.ts";
import { type Document, type RenderOptions, renderers } from "../../../../src/core/render/index.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { invalid } from "../diagnostics.ts";
import { driftReport, fullPlan, planOfColumns } from "../full-plan.ts";
import { protectPlan } from "../held.ts";
import { withName } from "../hostile.ts";
import { largeReport, tracedReport } from "../html-report.ts";
import { change, item, plan } from "../plans.ts";
import { doneResult, fullResult } from "../results.ts";

const plain: RenderOptions = { color: false, verbose: false };
const documents: readonly Document[] = [fullPlan, driftReport, tracedReport, fullResult, doneResult, invalid, planOfColumns(60), plan()];
const html = (document: Document, options: Partial<RenderOptions> = {}): string => renderers.html(document, { ...plain, ...options });
const words = (text: string): string =>
  text
    .replaceAll(/<style>.*?<\/style>/gsu, "")
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/\s+/gu, " ");

test("an object to create is one change, as in the first sentence, and an id to record is none", () => {
  const changes = [change({ path: "/name" }), change({ path: "/type" })];
  const made = plan({ steps: [item({ verb: "create", changes }), item({ changes }), item({ verb: "bind", changes })] });
  expect(words(html(made))).toContain(" Changes (3) ");
});

const voids = new Set(["meta", "br", "wbr", "path", "!DOCTYPE"]);

/** Errors of the tags: [] if each is a known one, has only quoted attributes, and is closed. */
function faults(text: string): readonly string[] {
  const found: string[] = [];
  const open: string[] = [];
  const body = text.replaceAll(/<style>.*?<\/style>/gsu, "");
  for (const [tag, end, name = "", attributes = ""] of body.matchAll(
    /<(\/?)([!A-Za-z][\w]*)((?:\s+[\w-]+(?:="[^"<>]*")?|\s+html)*)\s*\/?>|</gu,
  )) {
    if (tag === "<") found.push(`a bare < before ${body.slice(body.indexOf(tag), 40)}`);
    else if (/script|iframe|object|embed|link|base|form|img/iu.test(name)) found.push(tag);
    else if (/\s(?:on\w+|style|src)=/iu.test(attributes.replaceAll(/"[^"]*"/gu, '""'))) found.push(tag);
    else if (voids.has(name)) continue;
    else if (end === "") open.push(name);
    else if (open.pop() !== name) found.push(`${tag} ends nothing`);
  }
  return [...found, ...open.map((name) => `${name} has no end`)];
}

test("the page has attribution, origin, steps and findings", () => {
  const text = words(html(tracedReport));
  for (const wanted of [
    "Drift for prod",
    "dana@example.com, 2026-02-28 16:40 UTC",
    "new since the dimsync run of",
    "only the time fits",
    "1. Integration/orders",
    "h-3f2a91",
    "Policy/pii-must-be-hashed",
  ])
    expect(text).toContain(wanted);
});

test("a plan also has the requests of apply, and refusing guards", () => {
  const text = words(html(fullPlan));
  expect(text).toContain("Apply sends 3 PATCH, 2 POST.");
  expect(text).toContain("Guard policy refuses");
  expect(words(html(tracedReport))).not.toContain("Apply sends");
});

test("what --protect-only holds is listed with its changes", () => {
  const html = renderers.html(protectPlan, plain);
  expect(html).toContain("Held by --protect-only");
  expect(html).toContain("Held changes of Schemas/orders");
  expect(html).toContain("waits for Asset/lake");
});

test("several targets make one page with a heading for each and unique ids", async () => {
  const staging = { ...tracedReport, target: "staging", planId: "p-2" };
  const renderAll = await formats.html();
  const text = renderAll([tracedReport, staging], plain);
  expect(faults(text)).toEqual([]);
  expect(words(text)).toContain("Drift: 2 targets");
  expect(words(text)).toMatch(/Target State exposed differences by hand policy findings blocked Last run prod drift 4 6 2 2 2 2026/u);
  const ids = [...text.matchAll(/ id="([^"]*)"/gu)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(text.match(/<html/gu)).toHaveLength(1);
});

describe("the page is one file that loads and runs nothing", () => {
  test.each(documents.map((document, index) => [`${document.kind} ${index}`, document] as const))("%s", (_, document) => {
    const text = html(document);
    expect(faults(text)).toEqual([]);
    const [, style = ""] = /<style>(.*?)<\/style>/su.exec(text) ?? [];
    const digest = createHash("sha256").update(style).digest("base64");
    expect(text).toContain(`content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"`);
    expect(style).not.toMatch(/url\(|@import/u);
    for (const [, target] of text.matchAll(/href="([^"]*)"/gu)) {
      expect(target).toMatch(/^#[A-Za-z0-9-]+$/u);
      expect(text).toContain(`id="${target?.slice(1)}"`);
    }
  });
});

describe("a name can't break out of its element", () => {
  test.each([
    "</code></td><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=1>",
    "</style><style>*{display:none}",
    "<!--",
    "&lt;b&gt;",
    "\u202egnp.exe\u0000",
    "]]>",
  ])("%s", (name) => {
    for (const document of documents) {
      const text = html(withName(document, name));
      expect(faults(text)).toEqual([]);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      if (!/[<>&"']/u.test(name)) continue;
      expect(text.replaceAll(/<style>.*?<\/style>/gsu, "")).not.toContain(name);
    }
  });

  test("whatever its characters", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."<>&\"'/=!- ab`\n\\;#x3"), maxLength: 14 }),
        fc.constantFrom(...documents),
        (name, document) => {
          expect(faults(html(withName(document, name)))).toEqual([]);
        },
      ),
      { numRuns: runs(30, 1_000) },
    );
  });
});

test("the checker of the tags finds errors", () => {
  for (const broken of ["<p>a", "a</p>", "<script></script>", '<p onclick="x"></p>', '<p style="x"></p>', "<b>a</i>", "a < b"])
    expect(faults(broken)).not.toEqual([]);
});

test("a drift page begins with what to do, and shows no guard", () => {
  const text = words(html(tracedReport));
  expect(text.indexOf("dimsync drift --resolve revert")).toBeGreaterThan(0);
  expect(text.indexOf("dimsync drift --resolve revert")).toBeLessThan(text.indexOf("Policy/pii-must-be-hashed"));
  expect(text).not.toContain("--allow");
});

test("a plan page begins with why apply will refuse it", () => {
  const text = words(html(fullPlan));
  expect(text).toContain("Plan for prod (apply will refuse it: 1 policy error)");
  expect(text).toContain("Apply will refuse this plan. Guard policy refuses: 1 found, none allowed.");
  expect(text.indexOf("Apply will refuse this plan.")).toBeLessThan(text.indexOf("Changes ("));
});

test("all 300 differences are shown, and objects in bundles if there are many", () => {
  const one = html(largeReport(1, 300));
  expect(one.match(/<th scope="row">/gu)).toHaveLength(300 + 5);
  const many = html(largeReport(300, 1));
  expect(many.match(/<summary><h3>/gu)).toHaveLength(300);
  expect(words(many)).toContain("Objects 201 to 300 of 300");
  expect(words(html(largeReport(1, 20_100)))).toContain("and 100 more differences");
});

test("numbers that are 0 are left out, so that the changes are on the first screen of a phone", () => {
  const numbers = html(plan({ items: [item({ changes: [change()] })] })).matchAll(/<strong>(\d+)<\/strong> <span>/gu);
  expect([...numbers].map(([, count]) => count)).toEqual(["1"]);
});
