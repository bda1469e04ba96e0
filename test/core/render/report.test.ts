// A report counts each change once, the most important ones first, and says what to do.
import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../src/core/base/model/findings.ts";
import type { ChangeFacts, Plan, ReadyStep } from "../../../src/core/base/model/plan.ts";
import type { Entry } from "../../../src/core/render/blocks.ts";
import { lineText, textOf } from "../../../src/core/render/blocks.ts";
import type { RenderOptions } from "../../../src/core/render/document.ts";
import { renderers } from "../../../src/core/render/index.ts";
import { renderMarkdown } from "../../../src/core/render/markdown/index.ts";
import { unmanagedCounts } from "../../../src/core/render/report/unmanaged.ts";
import { reportOf } from "../../../src/core/render/report.ts";
import { renderHuman } from "../../../src/core/render/terminal/index.ts";
import { planSection } from "../../../src/features/ci/plan-comment.ts";
import { endedFrom, outcomes, stepsFrom } from "../../support/steps.ts";
import { visibleWords, wordsIn } from "../../support/visible-words.ts";
import { fleetPlan } from "./fleet-plan.ts";
import { fullPlan, planOfColumns } from "./full-plan.ts";
import { change, item, plan } from "./plans.ts";
import { fullResult } from "./results.ts";

const plain = { color: false, verbose: false };
const entriesOf = (section: string, document: Plan, options: RenderOptions = plain): readonly Entry[] =>
  reportOf(document, options).sections.find((one) => one.id === section)?.entries ?? [];

const rowsOf = (document: Plan, options: RenderOptions = plain): readonly string[] =>
  reportOf(document, options).changes.entries.map(({ head }) => head.map((line) => lineText(line, textOf)).join(" | "));

test("what one user changed in the account is one row, however many columns it is", () => {
  const attribution = {
    actor: "dana@example.com",
    at: "2026-03-03T07:55:00Z",
    confidence: "exact",
    event: "Schema changed",
    own: false,
  } as const;
  const nodes = { public: { t: Array.from({ length: 100_000 }, (_, index) => `c${index}`) } };
  const entry = {
    field: "hashed",
    before: false,
    after: true,
    risk: "protects",
    count: 100_000,
    nodes,
    origin: "drift",
    attribution,
  } as const;
  expect(rowsOf(plan({ items: [item({ changes: [entry] })] }))).toEqual([
    "hash again | t.c0, t.c1 and more (100000 columns in all) | orders | changed by dana@example.com, 2026-03-03 07:55 UTC",
  ]);
});

describe("equal changes are one row", () => {
  const columns = (...names: readonly string[]) =>
    ({ field: "hashed", before: false, after: true, risk: "protects", count: names.length, nodes: { public: { users: names } } }) as const;
  const rule = { rule: "pii", reason: "register 12", file: "manifests/pii.yaml", line: 9 };
  const of = (integration: string, ...changes: ReadyStep["changes"]): ReadyStep =>
    item({ id: integration, address: `Schemas/${integration}`, changes });

  test("of several columns and integrations", () => {
    const change = { ...columns("email", "phone"), cause: rule };
    expect(rowsOf(plan({ items: [of("a", change), of("b", change), of("c", change), of("d", change)] }))).toEqual([
      "hash | users.email, users.phone | a, b, c and 1 more integration | rule pii: register 12",
    ]);
  });

  test("and apart if the integrations, the rule, the risk or who made it differ", () => {
    const dana = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "exact", event: "un-hashed", own: false } as const;
    const items = [
      of("a", { ...columns("email"), cause: rule }, { ...columns("phone"), cause: { ...rule, rule: "fax", line: 12 } }),
      of(
        "b",
        { ...columns("email"), cause: rule },
        { ...columns("name"), cause: rule },
        { ...columns("city"), origin: "drift", attribution: dana, before: false },
      ),
      of("c", { ...columns("note"), before: true, after: false, risk: "exposes", cause: rule }),
    ];
    expect(rowsOf(plan({ items }))).toEqual([
      "unhash (exposes) | users.note | c | pii, manifests/pii.yaml:9: register 12",
      "hash | users.email | a, b | rule pii: register 12",
      "hash | users.name | b | rule pii: register 12",
      "hash | users.phone | a | rule fax: register 12",
      "hash again | users.city | b | un-hashed by dana@example.com, 2026-03-03 07:55 UTC",
    ]);
  });

  const dana = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "exact", event: "un-hashed", own: false } as const;
  test.each<[member: string, other: Partial<ChangeFacts> & { readonly field?: string }]>([
    ["field", { field: "enabled" }],
    ["value", { after: false }],
    ["risk", { risk: "exposes" }],
    ["origin", { origin: "drift" }],
    ["rule", { cause: { ...rule, rule: "fax" } }],
    ["file", { cause: { ...rule, file: "manifests/fax.yaml" } }],
    ["line", { cause: { ...rule, line: 10 } }],
    ["label", { cause: { ...rule, label: { name: "pii", source: "labels.csv:1" } } }],
    ["removed rule", { removed: rule }],
    ["person", { attribution: dana }],
  ])("unless their %s differs", (_, other) => {
    const [one, two] = [
      { ...columns("email"), cause: rule },
      { ...columns("phone"), cause: rule },
    ];
    const countOf = (second: ReadyStep["changes"][number]) =>
      rowsOf(plan({ items: [of("a", one), of("b", one), of("a", second), of("b", second)] })).length;
    expect([countOf(two), countOf({ ...two, ...other })]).toEqual([1, 2]);
  });

  test("of a review without an event are not said to be changed in the account", () => {
    const outside = { ...columns("email"), origin: "drift" } as const;
    const event = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "likely", event: "changed", own: false } as const;
    const made = plan({ items: [of("a", outside), { ...of("b", outside), attribution: event, liveName: "b" }], loosenedSince: "base" });
    expect(rowsOf(made)).toEqual([
      "hash | users.email | a | not from this pull request",
      "hash again | users.email | b | changed in the account",
    ]);
    expect(reportOf(made, plain).headline.text).toBe(
      "this pull request changes nothing; 1 outside change is undone; 1 change is not from this pull request.",
    );
  });

  test("of a pull request are one row, also if someone changed something else in one of the integrations", () => {
    const event = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "likely", event: "changed", own: false } as const;
    const own = { ...columns("city"), origin: "config", cause: rule } as const;
    const items = [of("a", own), { ...of("b", own, { ...columns("email"), origin: "drift" }), attribution: event, liveName: "b" }];
    expect(rowsOf(plan({ items, loosenedSince: "base" }))).toEqual([
      "hash | users.city | a, b | rule pii: register 12",
      "hash again | users.email | b | changed in the account",
    ]);
  });

  test("with the schema if there are several", () => {
    const other = { ...columns("email"), nodes: { sales: { users: ["email"] } } };
    expect(rowsOf(plan({ items: [of("a", columns("email"), other)] }))).toEqual(["hash | public.users.email, sales.users.email | a | "]);
  });

  test("in a report by what changed: the account, the manifests, or that is unknown", () => {
    const exposed = { risk: "exposed" } as const;
    const items = [
      of(
        "a",
        { ...columns("a"), ...exposed, origin: "drift" },
        { ...columns("b"), ...exposed, origin: "config" },
        { ...columns("c"), ...exposed },
      ),
      of("b", { ...columns("d"), field: "enabled", before: true, after: false, ...exposed, origin: "drift" }),
    ];
    expect(rowsOf(plan({ kind: "DriftReport", items })).map((row) => row.split(" | ").slice(0, 2).join(" "))).toEqual([
      "no longer hashed users.a",
      "not hashed yet users.b",
      "not hashed users.c",
      "now replicated users.d",
    ]);
  });

  test("over all integrations, columns that become readable first", () => {
    expect(rowsOf(fleetPlan()).slice(0, 2)).toEqual([
      "unhash (exposes) | orders.contact | shop-00, shop-01 | contact-readable, manifests/shops.yaml:12: DPIA-41",
      "hash | t0.email_0, t0.email_1 and 30 more columns | shop-00, shop-01, shop-02 and 6 more integrations | rule pii-email: GDPR register 12",
    ]);
  });

  test("and each one with its requests with -v", () => {
    const text = renderHuman(planOfColumns(40), { ...plain, verbose: true });
    expect(text.match(/^ +public\.\S+ hashed /gmu)).toHaveLength(41);
    expect(renderHuman(fullPlan, { ...plain, verbose: true })).toContain("POST /v1/integrations, after Asset/warehouse");
    expect(renderHuman(fullPlan, plain)).not.toContain("POST /v1");
  });

  test("of ids to record", () => {
    const binds = Array.from({ length: 40 }, (_, index) => item({ id: `i${index}`, address: `Tag/t${index}`, verb: "bind" }));
    expect(rowsOf(plan({ items: binds }))).toEqual(["record id | Tag/t0, Tag/t1 and 38 more ids |  | "]);
  });

  test("of the relations of a tag", () => {
    const cause = { file: "manifests/tags.yaml", line: 4, reason: "what it hides can become readable" };
    const relation = (id: string, verb: "relate" | "unrelate"): ReadyStep =>
      item({
        ...{ id, address: `Tag/gold#${id}`, verb },
        changes: [
          change({ path: `/taggedResources/${id}`, before: id, after: null, risk: verb === "relate" ? "neutral" : "exposes", cause }),
        ],
      });
    const items = [relation("a", "relate"), ...["b", "c", "d", "e"].map((id) => relation(id, "unrelate"))];
    expect(rowsOf(plan({ items }))).toEqual([
      "detach (exposes) | Tag/gold | b, c, d and 1 more resource | manifests/tags.yaml:4: what it hides can become readable",
      "attach | Tag/gold | a | manifests/tags.yaml:4: what it hides can become readable",
    ]);
    expect(rowsOf(plan({ kind: "DriftReport", items })).map((row) => row.split(" | ")[0])).toEqual([
      "not attached",
      "attached, not declared",
    ]);
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

  test("what a policy of severity error forbids is not accepted, and what was kept hashed is given up by name", () => {
    const exposed = item({ changes: [change({ path: "/schemas/public/tables/users/columns/email/hashed" })] });
    const finding: PolicyFinding = {
      ...{ rule: "Policy/pii", severity: "error", state: "existing", address: exposed.address, message: "must be hashed" },
      ...{ path: "/schemas/public/tables/users/columns/email/hashed", actual: false, required: true },
    };
    expect(next({ items: [exposed], findings: [finding] })).toEqual([restore]);
    expect(next({ items: [exposed, item({ id: "b", address: "Schemas/b", changes: [change()] })], findings: [finding] })).toEqual([
      restore,
      keep,
    ]);
    expect(next({ items: [exposed], findings: [{ ...finding, severity: "warning" }] })).toEqual([restore, keep]);
    const owed = { address: "Schemas/a", path: "/name", expected: "a", actual: "b", instruction: "Give it up:", obligation: true } as const;
    expect(next({ steps: stepsFrom({ byHand: [owed] }) })).toEqual([["1 step"]]);
  });

  test("nothing without drift, and nothing for a plan", () => {
    expect(next({})).toEqual([]);
    expect(next({ items: [item({ verb: "bind" })] })).toEqual([]);
    expect(entriesOf("next", fullPlan)).toEqual([]);
  });
});

describe("policy findings", () => {
  const finding = (state: PolicyFinding["state"], table: string): PolicyFinding => ({
    ...{ rule: "Policy/pii", severity: "error", state, address: "Schemas/b", message: "must be hashed" },
    path: `/schemas/public/tables/${table}/columns/email/hashed`,
    ...{ actual: false, required: true },
  });
  const findings = [finding("new", "a"), finding("existing", "b"), finding("fixed", "c")];

  test.each(["human", "markdown", "html"] as const)("are in three groups in %s", (format) => {
    // The contents of a page have the headings, too.
    const text = renderers[format](plan({ findings }), plain)
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
    const text = renderers.github(plan({ findings }), plain);
    expect(text).toContain("hashed is false, must be true");
    expect(text).not.toContain("public.c.email");
  });

  test("a drift report has one list of them", () => {
    const report = plan({ kind: "DriftReport", findings: [finding("existing", "b")] });
    expect([entriesOf("policies", report).length, entriesOf("existing", report).length]).toEqual([1, 0]);
  });
});

test("the page and the text count the same unmanaged objects and columns", () => {
  const unmanaged = { integrations: [{ id: "9a", name: "Old" }], tags: [{ id: "t", name: "temp" }], columns: 612 };
  expect(unmanagedCounts(unmanaged)).toEqual({ objects: 2, columns: 612 });
  expect(renderers.human(plan({ unmanaged }), { ...plain, verbose: true })).toContain(
    "Not managed by any manifest: 1 integration, 1 tag, 612 columns",
  );
  const page = renderers.html(plan({ unmanaged }), plain).replaceAll(/<[^>]*>/gu, "");
  expect(page).toContain("2 unmanaged objects");
  expect(page).toContain("612 unmanaged columns");
});

test("a missing tag relation says what lacks the tag, and who removed it", () => {
  const attribution = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "exact" as const, event: "x", own: false };
  const relation = item({
    ...{ id: "b27d", address: "Tag/gold#b27d", verb: "relate", liveId: "t-3", liveName: "Gold" },
    changes: [
      change({
        path: "/taggedResources/b27d",
        after: { resourceType: "Integration", name: "billing" },
        risk: "neutral",
        origin: "drift",
        attribution,
      }),
    ],
    requests: [{ method: "POST", path: "/v1/tags/t-3/relation", body: { resourceId: "b27d", resourceType: "Integration" } }],
  });
  const report = plan({ kind: "DriftReport", items: [relation] });
  expect(rowsOf(report)).toEqual([
    "not attached | Tag/gold | billing (b27d) | changed by dana@example.com, 2026-03-03 07:55 UTC; rule pii-email: GDPR register 12",
  ]);
  expect(renderers.github(report, plain)).toContain("billing (b27d) Tag/gold: not attached (changed by dana@example.com, 2026");
});

test("what an item comes after is named once, without the record of its own id", () => {
  const named = (id: string, address: string, dependsOn: readonly string[] = []): ReadyStep =>
    item({ id, address, changes: [change()], ...(id === "bind" ? { verb: "bind", changes: [], requests: [] } : {}), dependsOn });
  const items = [
    named("bind", "Integration/orders"),
    named("patch", "Integration/orders", ["bind"]),
    named("schemas", "Schemas/orders", ["bind", "patch"]),
  ];
  const text = renderHuman(plan({ items }), { ...plain, width: 200, verbose: true });
  expect(text.match(/, after .*/gu)).toEqual([", after Integration/orders"]);
});

test("a create of unknown outcome has both answers, in a plan and in a result", () => {
  const [address, code] = ["Asset/lake", "E_UNKNOWN_OUTCOME"] as const;
  const command = "dimsync resolve Asset/lake --created=d-44";
  const blocked = { address, code, message: "No response showed whether it was created.", command };
  const choices = [command, "dimsync resolve Asset/lake --not-created"];
  const planned = plan({ steps: stepsFrom({ blocked: [blocked] }) });
  expect(entriesOf("blocked", planned)).toMatchObject([{ commands: choices }]);
  for (const outcome of ["unknown", "blocked"] as const) {
    const result = { ...fullResult, steps: endedFrom([{ ...blocked, outcome }]) };
    const { sections } = reportOf(result, plain);
    expect(sections.find(({ id }) => id === "outcomes")?.entries).toMatchObject([{ commands: choices }]);
  }
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

const shopChange = (shop: string, members: Parameters<typeof change>[0]) =>
  item({ id: shop, address: `Schemas/${shop}`, liveName: shop, changes: [change(members)] });

test("a typical pull request takes 70 words in the comment and 90 in the terminal", () => {
  const city = {
    path: "/schemas/public/tables/customers/columns/city/hashed",
    cause: { rule: "city", file: "manifests/shops.yaml", line: 9, reason: "small towns identify people" },
    origin: "config",
  } as const;
  const title = {
    path: "/schemas/public/tables/products/columns/title/enabled",
    before: true,
    after: false,
    cause: { rule: "titles", file: "manifests/shops.yaml", line: 14 },
    origin: "config",
  } as const;
  const outside = {
    path: "/schemas/public/tables/customers/columns/email/hashed",
    cause: { rule: "email", file: "manifests/shops.yaml", line: 4 },
    origin: "drift",
    attribution: { actor: "dana@example.com", at: "2026-03-03T06:37:12Z", event: "email un-hashed", confidence: "exact", own: false },
  } as const;
  const shops = ["shop-at", "shop-ch", "shop-de"];
  const typical = plan({
    loosenedSince: "base",
    items: [
      ...shops.map((shop) => shopChange(shop, city)),
      ...shops.map((shop) => shopChange(shop, title)),
      shopChange("shop-it", outside),
    ],
  });
  const options = { color: false, verbose: false, width: 80 };
  const comment = planSection(typical, { room: 60_000, head: undefined }).text;
  expect(visibleWords(comment)).toBeLessThanOrEqual(70);
  expect(wordsIn(renderHuman(typical, options))).toBeLessThanOrEqual(90);
});

test("what was not compared is never said to be without changes", () => {
  const blocked = stepsFrom({ blocked: [{ address: "Schemas/orders", code: "E_READ_FAILED", message: "Not compared." }] });
  const none = { ...plan().counts, equal: 0 };
  const title = (members: Partial<Plan>): string =>
    reportOf(plan({ steps: blocked, ...members }), { color: false, verbose: false }).headline.text;
  expect(title({ loosenedSince: "base" })).toBe("not compared completely; 1 blocked.");
  expect(title({ complete: false })).toBe("not compared completely; 1 blocked.");
  expect(title({ complete: false, counts: none })).toBe("not compared; 1 blocked.");
  expect(title({ kind: "DriftReport", complete: false, counts: none })).toBe("not compared; 1 blocked.");
});

test("a merge group and a merge request are not called a pull request", () => {
  const made = (reviews: "merge group" | "merge request"): string =>
    renderMarkdown(plan({ items: [item({ changes: [change()] })], loosenedSince: "base", reviews }), { color: false, verbose: false });
  expect(made("merge group")).toContain("## `prod`: 1 change from this merge group, which protects");
  expect(made("merge request")).toContain("## `prod`: 1 change from this merge request, which protects");
});
