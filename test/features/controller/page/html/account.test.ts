import { describe, expect, test } from "vitest";
import { markupOf } from "../../../../../src/core/render/html/html.ts";
import { renderers } from "../../../../../src/core/render/index.ts";
import { accountPage } from "../../../../../src/features/controller/page/html/account.ts";
import { bundlePage } from "../../../../../src/features/controller/page/html/bundle.ts";
import { runPage } from "../../../../../src/features/controller/page/html/run.ts";
import type { AccountDetail } from "../../../../../src/features/controller/views/status.ts";
import { tracedReport } from "../../../../core/render/html-report.ts";
import { bundle, detail, findings, now, run, runDetail, runs, suspension, worldOf } from "../world.ts";

const request = { path: "/", query: new URLSearchParams(), now };

async function html(members: Partial<AccountDetail> = {}, query = ""): Promise<string> {
  const reads = worldOf([], { account: async () => detail(members) });
  const page = await accountPage(reads, { ...request, query: new URLSearchParams(query) }, "prod");
  return markupOf(page.html).replaceAll(/<(style|script)>.*?<\/\1>/gsu, "");
}

const words = (text: string): string => text.replaceAll(/<[^>]*>/gu, " ").replaceAll(/\s+/gu, " ");

describe("an exposed account", () => {
  test("shows who made each change, and when", async () => {
    expect(words(await html())).toContain(
      "public.customers.email hashed exposed false true dana@example.com 2026-03-01 08:10 UTC “Schema configuration of integration 8f1c &quot;Orders&quot; changed” 50 min ago",
    );
  });

  test("shows the commands that revert and accept", async () => {
    const commands = [...(await html({ target: "shop eu" })).matchAll(/<pre>(.*?)<\/pre>/gsu)].map(([, text]) => text);
    expect(commands.slice(0, 3)).toEqual([
      "dimsync drift -t &#39;shop eu&#39; --resolve revert",
      "dimsync apply -t &#39;shop eu&#39; revert.plan.json",
      "dimsync drift -t &#39;shop eu&#39; --resolve accept",
    ]);
  });

  test("groups findings by cause, with its place and reason", async () => {
    const text = await html();
    expect([...text.matchAll(/<details class="card" id="(cause-\d)" open>/gu)].map(([, id]) => id)).toEqual([
      "cause-1",
      "cause-2",
      "cause-3",
    ]);
    expect(words(text)).toContain("SchemaConfig/shops, rule pii-email 3 findings 3 exposed manifests/pii.yaml:9 GDPR register 12");
  });

  test("puts literal settings of one manifest into one group, with the place of each", async () => {
    const literal = ["email", "phone"].map((name, index) => ({
      ...findings[0],
      ...{
        id: index,
        cause: `SchemaConfig/shops /schemas/public/tables/a/columns/${name}/hashed`,
        path: `/schemas/public/tables/a/columns/${name}/hashed`,
      },
      detail: { actual: false, desired: true, cause: { file: "manifests/shops.yaml", line: 20 + index } },
    })) as AccountDetail["findings"];
    const text = words(await html({ findings: literal }));
    expect(text).toContain("SchemaConfig/shops 2 findings 2 exposed ");
    expect(text).toContain("public.a.email hashed exposed manifests/shops.yaml:20 false true");
    expect(text).toContain("public.a.phone hashed exposed manifests/shops.yaml:21 false true");
  });

  test("closes later causes if there are many findings", async () => {
    const many = Array.from({ length: 90 }, (_, index) => ({
      ...findings[0],
      id: index,
      cause: `rule ${Math.floor(index / 30)}`,
    })) as AccountDetail["findings"];
    expect((await html({ findings: many })).match(/<details class="card" id="cause-\d" open>/gu)).toHaveLength(1);
  });
});

test("differences that can only be fixed by hand have their instruction and no command", async () => {
  const text = await html({
    state: "drifted",
    exposedColumns: 0,
    policyViolations: 0,
    findings: findings.filter(({ kind }) => kind === "manual"),
  });
  expect(words(text)).toContain("Resume the integration in the service.");
  expect(words(text)).toContain("1 difference can only be fixed by hand");
  expect(text).not.toContain("--resolve");
});

test("an account in sync has no fix", async () => {
  const text = words(await html({ state: "in-sync", exposedColumns: 0, policyViolations: 0, findings: [] }));
  expect(text).toContain("The account matches the manifests.");
  expect(text).toContain("The last comparison found no difference.");
  expect(text).not.toContain("Fix it");
});

test.each<[string, Partial<AccountDetail>, string]>([
  [
    "why the last run failed",
    { error: { code: "E_TIMEOUT", message: "No response. Try later." } },
    "The last run failed. E_TIMEOUT No response. Try later.",
  ],
  [
    "who suspended it, until when, and why",
    { state: "suspended", suspension },
    "Suspended by dana@example.com until 2026-03-01 14:00 UTC : Migration of the warehouse, CHG-1204",
  ],
  ["that the numbers are old", { isStale: true, state: "exposed" }, "Not checked within three intervals. The numbers are 4 min ago"],
  ["that the service is overloaded", { intervalMs: 3_600_000 }, "15 min (now every 1 h: the service is overloaded)"],
  [
    "that a run is in progress",
    { running: { run: "r", worker: "worker-2", since: "2026-03-01T08:59:30.000Z" } },
    "running since 30 s ago on worker-2",
  ],
  ["earlier suspensions", {}, "2026-02-27 09:00 UTC resumed by lee@example.com"],
  ["how to suspend it", { suspensions: [] }, "dimsync controller suspend prod --until 2h --reason"],
  ["what a mode does", { mode: "protect" }, "The controller sends changes that protect data, within the guards."],
])("it shows %s", async (_, members, expected) => {
  expect(words(await html(members))).toContain(expected);
});

describe("it says what to do, with commands and where they run", () => {
  const fixOf = async (members: Partial<AccountDetail>): Promise<readonly string[]> => {
    const fix = /<section id="fix".*?<\/section>/su.exec(await html({ findings: [], ...members }))?.[0] ?? "";
    return [words(fix).trim(), ...[...fix.matchAll(/<pre>(.*?)<\/pre>/gsu)].map(([, command = ""]) => command)];
  };
  const failing = (code: string, message: string): Partial<AccountDetail> => ({ state: "failing", error: { code, message } });
  const place = /Run the commands in a checkout of https:\/\/git\.example\.com\/data\/accounts at 4f2c1ab\b/u;

  test.each<[string, Partial<AccountDetail>, readonly string[], RegExp]>([
    ["nothing", {}, [], /^$/u],
    [
      "a drift",
      { findings },
      ["dimsync drift -t prod --resolve revert", "dimsync apply -t prod revert.plan.json", "dimsync drift -t prod --resolve accept"],
      place,
    ],
    [
      "a failed read",
      failing("E_UNAUTHORIZED", "The key is wrong."),
      ["dimsync doctor -t prod", "dimsync controller check prod --wait"],
      place,
    ],
    [
      "a mistake in the project",
      failing("E_WRONG_TYPE", "manifests/pii.yaml:9:3: must be a string"),
      ["dimsync validate -t prod"],
      /commit and push it/u,
    ],
    ["a project without files", failing("E_NO_MANIFESTS", "No manifests."), ["dimsync validate -t prod"], /commit and push it/u],
    [
      "a rule for a column that the account does not have",
      failing("E_MISSING_NAME", "manifests/pii.yaml:9:3: no column email"),
      ["dimsync plan -t prod"],
      /commit and push it/u,
    ],
    [
      "a failure whose message begins as a place does",
      failing("E_SERVICE_UNREACHABLE", "api.example.com:443: connection refused"),
      ["dimsync doctor -t prod", "dimsync controller check prod --wait"],
      place,
    ],
    [
      "a key that the worker lacks",
      failing("E_SECRET_MISSING", "dimsync.yaml:9:3: PROD_KEY is not set"),
      ["dimsync doctor -t prod", "dimsync controller check prod --wait"],
      place,
    ],
    ["a refusal of a guard", failing("E_GUARD", "Too many."), ["dimsync plan -t prod"], place],
    ["a worker that was killed", failing("E_RUN_INTERRUPTED", "It was about to send."), ["dimsync controller check prod --wait"], place],
    [
      "protection that gave up",
      failing("E_PROTECT_STOPPED", "dana changed it again."),
      [],
      /Agree : dana changed it again\. Then revert or accept it\./u,
    ],
    ["a stale account", { state: "stale", isStale: true }, ["dimsync controller check prod --wait"], /start a worker if none runs/u],
    ["a suspended account", { state: "suspended", suspension }, ["dimsync controller resume prod"], place],
  ])("for %s", async (_, members, commands, text) => {
    const [all = "", ...found] = await fixOf(members);
    expect(found).toEqual(commands);
    expect(all).toMatch(text);
  });

  test("in the folder of a controller that watches it", async () => {
    const { digest: _, commit: __, ...watched } = detail({ source: "/home/dana/accounts" });
    const reads = worldOf([], { account: async () => watched });
    expect(words(markupOf((await accountPage(reads, request, "prod")).html))).toContain(
      "Run the commands in the folder /home/dana/accounts .",
    );
  });
});

describe("runs", () => {
  test("are listed with their result, in pages", async () => {
    const text = await html();
    expect(text.match(/data-head="Result"/gu)).toHaveLength(20);
    expect(words(text)).toContain("failed E_TIMEOUT GET /v1/tags: no response within 30 s.");
    expect(text).toContain('<a href="/accounts/prod?page=2">Next page</a>');
    const last = await html({}, "page=3");
    expect(last).toContain(`/runs/${runs[40]?.id}`);
    expect(last).not.toContain("Next page");
  });

  test("have the report that drift -o html writes, with links to the account and the bundle", async () => {
    const text = markupOf((await runPage(worldOf([], { run: async () => ({ ...run, report: tracedReport }) }), request, run.id)).html);
    const report = renderers.html(tracedReport, { color: false, verbose: false });
    const links = /<p class="quiet"><a href="\/accounts\/prod">.*?<\/p>\n/su.exec(text)?.[0] ?? "";
    expect(links).toContain(`<a href="/bundles/${encodeURIComponent(bundle.digest)}">`);
    expect(text.replace(links, "")).toBe(report);
  });

  test("show what they sent", async () => {
    const text = markupOf((await runPage(worldOf([], { run: async () => ({ ...runDetail, changesSent: 2 }) }), request, run.id)).html);
    expect(words(text)).toMatch(/2 changes sent.*What this run sent.*1 done, 1 recovered/su);
  });

  test("that failed have the reason", async () => {
    const text = markupOf(
      (
        await runPage(
          worldOf([], { run: async () => ({ ...run, error: { code: "E_TIMEOUT", message: "No <response>." } }) }),
          request,
          run.id,
        )
      ).html,
    );
    expect(words(text)).toContain("failed before it had a report");
    expect(text).toContain("No &lt;response&gt;.");
  });
});

test("a bundle has its files as text", async () => {
  const text = markupOf((await bundlePage(worldOf([], { bundle: async () => bundle }), request, bundle.digest)).html);
  expect(text).toContain("kind: Policy # &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n</pre>");
  expect(words(text)).toContain("2 files, 18204 bytes compressed");
  expect(text).toContain('<a href="/accounts/shop-eu">');
});

test("names from accounts and manifests are text, not tags", async () => {
  const hostile = '<img src=x onerror="alert(1)">';
  const all = findings.map((each) => ({
    ...each,
    ...{ address: hostile, path: `/${hostile}`, cause: hostile, actor: hostile },
    detail: {
      ...{ actual: hostile, desired: hostile, text: hostile, cause: { file: hostile, reason: hostile, rule: hostile } },
      attribution: { actor: hostile, at: hostile, confidence: "exact" as const, event: hostile },
    },
  }));
  const text = await html({
    ...{ name: hostile, source: hostile, target: hostile, labels: { [hostile]: hostile }, commit: hostile, digest: hostile },
    error: { code: hostile, message: hostile },
    suspension: { ...suspension, reason: hostile, by: hostile },
    suspensions: [{ ...suspension, reason: hostile, by: hostile, resumedAt: hostile, resumedBy: hostile }],
    running: { run: hostile, worker: hostile, since: suspension.at },
    findings: all,
    events: all.map(({ id, detail: found, ...each }) => ({
      ...each,
      finding: id,
      event: "opened" as const,
      at: hostile,
      run: hostile,
      detail: found,
    })),
  });
  expect(text).toContain("&lt;img src=x onerror=");
  expect(text).not.toContain("<img");
});

test("an account that was removed says when, by whom and with which commit, and has no commands", async () => {
  const text = await html({
    removed: { at: "2026-02-28T10:00:00.000Z", by: "ci@example.com", commit: bundle.commit ?? "" },
    suspensions: [],
  });
  expect(words(text)).toContain(
    "No longer under control. It was removed at 2026-02-28 10:00 UTC by ci@example.com with commit 4f2c1ab . Nothing checks it",
  );
  expect(words(text)).toContain("Next check never");
  expect(text).not.toContain("<pre>");
});

test("what is acknowledged says by whom and why, at the account and at each finding that is not sent again", async () => {
  const acknowledged = { events: ["exposed"], by: "ann", reason: "the owner is on it", at: "2026-03-01T08:30:00.000Z" };
  const [first, ...others] = findings.map((finding, index) => (index === 0 ? { ...finding, acknowledged } : finding));
  const text = words(
    await html({ acknowledged, acknowledgements: [acknowledged], findings: first === undefined ? [] : [first, ...others] }),
  );
  expect(text).toContain("Acknowledged by ann at 2026-03-01 08:30 UTC : the owner is on it. “exposed” is not sent again until it is over.");
  expect(text.match(/alerts off, acknowledged by ann/gu)).toHaveLength(1);
  expect(text).toContain("the owner is on it ann exposed 2026-03-01 08:30 UTC not sent again");
});
