import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../src/core/model/findings.ts";
import type { Plan, ReadyStep } from "../../../src/core/model/plan.ts";
import type { Entry } from "../../../src/core/render/blocks.ts";
import { textOf } from "../../../src/core/render/blocks.ts";
import type { RenderOptions } from "../../../src/core/render/document.ts";
import { renderHtml } from "../../../src/core/render/html/index.ts";
import { renderers } from "../../../src/core/render/index.ts";
import { renderMarkdown } from "../../../src/core/render/markdown/index.ts";
import { unmanagedCounts } from "../../../src/core/render/report/unmanaged.ts";
import { reportOf } from "../../../src/core/render/report.ts";
import { renderHuman } from "../../../src/core/render/terminal/index.ts";
import { endedFrom, outcomes, readySteps, stepsFrom } from "../../support/steps.ts";
import { fleetPlan } from "./fleet-plan.ts";
import { fullPlan, planOfColumns } from "./full-plan.ts";
import { change, item, plan } from "./plans.ts";
import { fullResult } from "./results.ts";

const plain = { color: false, verbose: false };
const entriesOf = (section: string, document: Plan, options: RenderOptions = plain): readonly Entry[] =>
  reportOf(document, options).sections.find((one) => one.id === section)?.entries ?? [];
const ofChanges = (count: number) =>
  plan({
    items: [item({ changes: Array.from({ length: count }, (_, index) => change({ path: `/schemas/public/tables/t${index}/enabled` })) })],
  });

test("what one user changed in the account is one line, however many columns it is", () => {
  const attribution = {
    actor: "dana@example.com",
    at: "2026-03-03T07:55:00Z",
    confidence: "exact",
    event: "Schema changed",
    own: false,
  } as const;
  const paths = Array.from({ length: 100_000 }, (_, index) => `/schemas/public/tables/t/columns/c${index}/hashed`);
  const [entry] = entriesOf(
    "outside",
    plan({ items: [item({ changes: paths.map((path) => change({ path, origin: "drift", attribution })) })] }),
  );
  expect(entry?.rows).toHaveLength(1);
  expect(textOf(entry?.rows?.[0]?.[0]?.[0] ?? "")).toMatch(
    /public\.t\.c0 hashed.* and 99,?99\d more values; changed by dana@example\.com/u,
  );
});

describe("changes are grouped by rule", () => {
  test.each([
    [29, false],
    [30, true],
  ])("%i changes: %s", (count, expected) => {
    const report = reportOf(ofChanges(count), plain);
    expect(report.grouping).toBe(expected ? "rule" : "none");
    expect(report.changeBlocks.map(({ rules, lines }) => [rules.length > 0, lines.length > 0])).toEqual([[expected, !expected]]);
  });

  test("not with -v", () => {
    expect(reportOf(ofChanges(300), { ...plain, verbose: true }).grouping).toBe("none");
  });

  test.each([
    ["three are listed", 3, 4, []],
    ["four are one", 4, 2, ["4 integrations:"]],
    ["ten are one", 10, 2, ["10 integrations:"]],
  ])("of equal ones, however few changes the plan has, %s", (_sentence, count, blocks, targets) => {
    const equal = Array.from({ length: count }, (_, index) =>
      item({ id: `i${index}`, address: `Schemas/shop-${index}`, changes: readySteps(ofChanges(1))[0]?.changes ?? [] }),
    );
    const other = item({ id: "other", address: "Schemas/other", changes: readySteps(ofChanges(2))[0]?.changes ?? [] });
    const { changeBlocks } = reportOf(plan({ items: [...equal, other] }), plain);
    expect(changeBlocks).toHaveLength(blocks);
    expect(changeBlocks.flatMap(({ isSummary, target }) => (isSummary ? target : [])).map(textOf)).toEqual(targets);
    expect(reportOf(plan({ items: [...equal, other] }), { ...plain, verbose: true }).changeBlocks).toHaveLength(count + 1);
  });

  test("over all integrations, columns that become readable first", () => {
    const [block] = reportOf(fleetPlan(), plain).changeBlocks;
    expect(block?.alert).toBe("2 columns become readable (newly replicated or no longer hashed): shop-00 (1), shop-01 (1).");
    expect(block?.rules.map(({ what, isAlarm }) => [what, isAlarm])).toEqual([
      ["unhash 2 columns in 2 tables of 2 integrations", true],
      ["hash 312 columns in 87 tables of 9 integrations", false],
      ["disable 9 tables of 9 integrations", false],
      ["hash 9 columns in 9 tables of 9 integrations", false],
    ]);
  });

  test("of one integration, whose name is in the heading and not repeated below", () => {
    const [block] = reportOf(plan({ items: [item({ ...readySteps(ofChanges(30))[0], exposedColumns: 2 })] }), plain).changeBlocks;
    expect(block?.alert).toBe("2 columns become readable (newly replicated or no longer hashed).");
  });

  test("in HTML with ten integrations, where a terminal has room for three", () => {
    const [, heading = ""] = /<h3>(.*?)<\/h3>/su.exec(renderHtml(fleetPlan(), plain)) ?? [];
    expect(heading.replaceAll(/<[^>]*>/gu, "")).toMatch(/^Schemas 9 integrations: shop-00, .*, shop-08$/u);
    expect(renderHuman(fleetPlan(), plain)).toContain("9 integrations: shop-00, shop-01, shop-02 and 6 more integrations\n");
  });

  test.each(["human", "markdown", "html"] as const)(
    "%s names what becomes readable, the line of a literal, examples and the order",
    (format) => {
      const shown = (document: Plan): string => renderers[format](document, { ...plain, width: 200 }).replaceAll(/<[^>]*>|[`*]/gu, "");
      expect(shown(fleetPlan())).toContain("2 columns become readable (newly replicated or no longer hashed): shop-00 (1), shop-01 (1).");
      expect(shown(fleetPlan())).toContain("manifests/shops.yaml:40");
      expect(shown(fleetPlan())).toContain("shop-00 public.t0.email_2 and 309 more columns");
      expect(shown(fullPlan)).toContain("POST /v1/integrations, after Asset/warehouse");
    },
  );

  test.each(["human", "markdown"] as const)("each change is in %s once", (format) => {
    const text = renderers[format](planOfColumns(40), plain);
    expect(text.match(/email_7\b/gu) ?? []).toHaveLength(0);
    expect(text.match(/contact\b/gu)).toHaveLength(1);
    expect(text.match(/hash 40 columns/gu)).toHaveLength(1);
  });

  test("many ids to record are counted", () => {
    const binds = Array.from({ length: 40 }, (_, index) => item({ id: `i${index}`, address: `Tag/t${index}`, verb: "bind" }));
    expect(renderers.human(plan({ items: binds }), plain)).toMatch(/^= 40 ids to record\n {4}Tag\/t0, Tag\/t1, Tag\/t2 and 37 more ids$/mu);
  });
});

test("a result with many items counts the finished ones", () => {
  const done = Array.from({ length: 40 }, (_, index) => ({
    ...{ address: `Schemas/i${index}`, verb: "update" as const, outcome: "done" as const },
  }));
  const steps = endedFrom([...done, ...outcomes(fullResult).slice(4, 5)]);
  const text = renderers.human({ ...fullResult, steps }, plain);
  expect(text).toMatch(/^✓ 40 Schemas +updated +Schemas\/i0, /mu);
  expect(text).toMatch(/^✗ Tag\/pii +failed/mu);
  const page = renderers.html({ ...fullResult, steps }, plain);
  expect(page.replaceAll(/<[^>]*>/gu, "")).toContain("1 not done");
});

describe("what to do about drift", () => {
  const next = (members: Parameters<typeof plan>[0]) =>
    entriesOf("next", plan({ kind: "DriftReport", ...members })).map(({ head, commands = [] }) => [
      String(head.flat()[0]).split(" ").slice(0, 2).join(" "),
      ...commands,
    ]);
  const restore = ["To restore", "dimsync drift --resolve revert", "dimsync apply revert.plan.json"];
  const keep = ["To keep", "dimsync drift --resolve accept"];

  test("restore or keep changes in the account", () => {
    const drift = plan({ kind: "DriftReport", items: [item({ changes: [change()] })] });
    expect(next(drift)).toEqual([restore, keep]);
    expect(entriesOf("next", drift, { ...plain, isResolved: true }), "drift --resolve").toEqual([]);
  });

  test("the account lacks something: accept cannot write that into a manifest", () => {
    const relation = item({ verb: "relate", address: "Tag/pii#8f1c" });
    expect(next({ items: [relation] })).toEqual([restore, ["Missing in"]]);
    expect(next({ items: [relation, item({ changes: [change()] })] })).toEqual([restore, keep, ["Missing in"]]);
  });

  test("changes only in the manifests are not accepted", () => {
    expect(next({ items: [item({ changes: [change({ origin: "config" })] })] })).toEqual([restore, ["1 difference"]]);
  });

  test("nothing without drift, and nothing for a plan", () => {
    expect(next({})).toEqual([]);
    expect(next({ items: [item({ verb: "bind" })] })).toEqual([]);
    expect(entriesOf("next", fullPlan)).toEqual([]);
  });
});

describe("policy findings", () => {
  const finding = (state: PolicyFinding["state"], table: string): PolicyFinding => ({
    ...{ policy: "pii", severity: "error", state, address: "Schemas/b", message: "must be hashed" },
    path: `/schemas/public/tables/${table}/columns/email/hashed`,
    ...{ actual: false, required: true },
  });
  const policy = [finding("new", "a"), finding("existing", "b"), finding("fixed", "c")];

  test.each(["human", "markdown", "html"] as const)("are in three groups in %s", (format) => {
    // The contents of a page have the headings, too.
    const text = renderers[format](plan({ policy }), plain)
      .replace(/^.*<main/su, "")
      .replaceAll("<wbr>", "");
    const at = [/public\.a\.email/u, /Existing policy findings/u, /public\.b\.email/u, /Policy findings that the plan fixes/u].map((part) =>
      text.search(part),
    );
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(at[0]).toBeGreaterThan(0);
    expect(text.replaceAll(/<[^>]*>/gu, "").match(/hashed is false, must be true/gu)).toHaveLength(2);
  });

  test("annotations show the value and the required one, except for findings that the plan fixes", () => {
    const text = renderers.github(plan({ policy }), plain);
    expect(text).toContain("hashed is false, must be true");
    expect(text).not.toContain("public.c.email");
  });

  test("a drift report has one list of them", () => {
    const report = plan({ kind: "DriftReport", policy: [finding("existing", "b")] });
    expect([entriesOf("policies", report).length, entriesOf("existing", report).length]).toEqual([1, 0]);
  });
});

test("the page and the text count the same unmanaged objects and columns", () => {
  const unmanaged = { integrations: [{ id: "9a", name: "Old" }], tags: [{ id: "t", name: "temp" }], columns: 612 };
  expect(unmanagedCounts(unmanaged)).toEqual({ objects: 2, columns: 612 });
  expect(renderers.human(plan({ unmanaged }), plain)).toContain("Not managed by any manifest: 1 integration, 1 tag, 612 columns");
  const page = renderers.html(plan({ unmanaged }), plain).replaceAll(/<[^>]*>/gu, "");
  expect(page).toContain("2 unmanaged objects");
  expect(page).toContain("612 unmanaged columns");
});

test("a missing tag relation says what lacks the tag, that it is missing, and who removed it", () => {
  const attribution = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "exact" as const, event: "x", own: false };
  const after = { resourceType: "Integration", name: "billing" };
  const relation = (id: string): ReadyStep =>
    item({
      ...{ id, address: `Tag/gold#${id}`, verb: "relate", liveId: "t-3", liveName: "Gold" },
      changes: [change({ path: `/taggedResources/${id}`, after, risk: "neutral", origin: "drift", attribution })],
      requests: [{ method: "POST", path: "/v1/tags/t-3/relation", body: { resourceId: id, resourceType: "Integration" } }],
    });
  const report = plan({ kind: "DriftReport", items: [relation("b27d")] });
  const options = { color: false, verbose: false };
  expect(renderHuman(report, { ...options, width: 120 })).toContain(
    "missing on Integration billing (b27d)   drift; changed by dana@example.com, 2026-03-03",
  );
  expect(renderMarkdown(report, options)).toContain(
    "(`t-3`) missing on Integration `billing` (`b27d`) (`pii-email, manifests/pii.yaml:9`); GDPR register 12; drift; changed by dana&#64;&#8203;example.com, 2026-03-03 07:55 UTC",
  );
  expect(renderHtml(report, options)).toMatch(
    /<h4><strong>Tag\/gold#b27d<\/strong> .* is missing on Integration <code>billing<\/code> <code>b27d<\/code><\/h4>/u,
  );
  expect(renderers.github(report, options)).toContain(
    "Tag/gold#b27d is missing on Integration billing (b27d); drift; changed by dana@example.com, 2026",
  );
  const many = plan({ kind: "DriftReport", items: ["a", "b", "c", "d"].map(relation) });
  expect(renderMarkdown(many, { ...options, byRule: true })).toContain(
    "4 missing relations (`pii-email, manifests/pii.yaml:9`): `billing (a)`, `billing (b)`, `billing (c)` and 1 more relation; GDPR register 12; drift; changed by dana",
  );
});

test.each(["human", "markdown", "html"] as const)("%s has the risk, the line and the reason of many relations to remove", (format) => {
  const cause = { file: "manifests/tags.yaml", line: 4, reason: "what it hides can become readable" };
  const items = ["a", "b", "c", "d"].map((id) =>
    item({
      ...{ id, address: `Tag/gold#${id}`, verb: "unrelate" },
      changes: [change({ path: `/taggedResources/${id}`, before: id, after: null, risk: "exposes", cause })],
    }),
  );
  const text = renderers[format](plan({ items: [...items, ...items, ...items, ...items, ...items, ...items, ...items, ...items] }), plain);
  expect(text).toContain("32 relations to remove");
  expect(text).toContain("32 expose: what it hides can become readable.");
  expect(text).toContain("manifests/tags.yaml:4");
});

test("what an item comes after is named once, without the record of its own id", () => {
  const named = (id: string, address: string, dependsOn: readonly string[] = []): ReadyStep =>
    item({ id, address, changes: [change()], ...(id === "bind" ? { verb: "bind", changes: [], requests: [] } : {}), dependsOn });
  const items = [
    named("bind", "Integration/orders"),
    named("patch", "Integration/orders", ["bind"]),
    named("schemas", "Schemas/orders", ["bind", "patch"]),
  ];
  const text = renderHuman(plan({ items }), { ...plain, width: 200 });
  expect(text.match(/, after .*/gu)).toEqual([", after Integration/orders"]);
});

test("what was not kept decides how a manifest stops asking for it", () => {
  const base = { address: "Schemas/orders", wanted: true, live: false, since: "2026-07-01T08:00:00.000Z" };
  const advice = (...paths: readonly string[]): string =>
    renderMarkdown(plan({ steps: stepsFrom({ notKept: paths.map((path) => ({ ...base, path })) }) }), plain)
      .replace(/^[\s\S]*To accept that, /u, "")
      .replace(/, or add[\s\S]*$/u, "");
  const table = "/schemas/public/tables/users";
  expect([
    advice(`${table}/columns/id/hashed`),
    advice(`${table}/enabled`),
    advice(`${table}/syncMode`, `${table}/cursorField`),
    advice("/settings/baseTime"),
    advice(`${table}/syncMode`, "/settings/baseTime"),
  ]).toEqual([
    "exclude the columns from the rule (primary keys with where: &#123; isPrimaryKey: false &#125;)",
    "exclude the schemas and tables from the rule",
    "set a sync mode and cursor that the table supports",
    "write the value that the account has in the manifest",
    "set a sync mode and cursor that the table supports, write the value that the account has in the manifest",
  ]);
});

test.each(["human", "markdown", "html"] as const)("%s has the reason of the rule that relates a tag", (format) => {
  const cause = { rule: "gold", reason: "SLA of team sales", file: "manifests/tags.yaml", line: 4 };
  const relation = item({ verb: "relate", address: "Tag/gold#b27d", changes: [change({ risk: "neutral", cause })] });
  expect(renderers[format](plan({ items: [relation] }), plain)).toContain("SLA of team sales");
});
