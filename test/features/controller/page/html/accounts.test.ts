import { describe, expect, test } from "vitest";
import { markupOf } from "../../../../../src/core/render/html/html.ts";
import { accountsPage } from "../../../../../src/features/controller/page/html/accounts.ts";
import type { PageReads } from "../../../../../src/features/controller/page/reads.ts";
import { type AccountSummary, accountStates, type CauseGroup } from "../../../../../src/features/controller/views/status.ts";
import { account, accountsOf, before, causesOf, closedOf, now, partOf, suspension, worldOf } from "../world.ts";

async function html(accounts: readonly AccountSummary[], query = "", members: Partial<PageReads> = {}): Promise<string> {
  const page = await accountsPage(worldOf(accounts, members), { path: "/", query: new URLSearchParams(query), now });
  return markupOf(page.html).replaceAll(/<(style|script)>.*?<\/\1>/gsu, "");
}

const words = (text: string): string => text.replaceAll(/<[^>]*>/gu, " ").replaceAll(/\s+/gu, " ");
const verdict = async (accounts: readonly Partial<AccountSummary>[], causes: readonly CauseGroup[] = []): Promise<string> => {
  const all = accounts.map((each, index) => account({ target: `a${index}`, ...each }));
  return words(
    /<p class="lead.*?<\/p>/su.exec(await html(all, "", { causes: async () => partOf(causes), closed: async () => partOf([]) }))?.[0] ?? "",
  ).trim();
};

describe("one sentence says whether anything is exposed", () => {
  test.each<[string, readonly Partial<AccountSummary>[], string]>([
    ["nothing", [{}, { state: "drifted", differences: 3 }], "Nothing is exposed."],
    ["one column", [{ state: "exposed", exposedColumns: 1 }], "1 account exposed. 1 column is less protected than the manifests declare."],
    [
      "columns and policies",
      [
        { state: "exposed", exposedColumns: 2, policyViolations: 1 },
        { state: "exposed", policyViolations: 2 },
      ],
      "2 accounts exposed. 2 columns are less protected than the manifests declare. Policies of severity error are violated in 3 places.",
    ],
    [
      "a suspended account is exposed too",
      [{ state: "suspended", suspension, exposedColumns: 4 }],
      "1 account exposed. 4 columns are less protected than the manifests declare. 1 account is suspended.",
    ],
    [
      "nothing that is known",
      [{}, { state: "failing", error: { code: "E_X", message: "No." } }, { state: "stale", isStale: true }],
      "Nothing is exposed, as far as is known. The current state of 2 accounts is not known.",
    ],
  ])("%s", async (_, accounts, expected) => {
    expect(await verdict(accounts)).toBe(expected);
  });

  test.each<[string, readonly CauseGroup[], string]>([
    ["since when, and by whom", causesOf([account()], 1), "Since 2026-03-01 05:55 UTC ( 3 h ago ), by dana@example.com."],
    [
      "of all that is exposed, and nothing else",
      causesOf([account()], 12),
      "Since 2026-02-28 20:55 UTC ( 12 h ago ), by dana@example.com, lee@example.com.",
    ],
    [
      "that nobody is known",
      causesOf([account()], 1).map((group) => ({ ...group, actors: [] })),
      "Since 2026-03-01 05:55 UTC ( 3 h ago ), the audit log does not say by whom.",
    ],
  ])("and %s", async (_, causes, expected) => {
    expect(await verdict([{ state: "exposed", exposedColumns: 1 }], causes)).toBe(
      `1 account exposed. 1 column is less protected than the manifests declare. ${expected}`,
    );
  });

  test("the title of the tab has the number of exposed accounts", async () => {
    expect(await html(accountsOf(50))).toContain("<title>6 exposed · Accounts under control · dimsync</title>");
    expect(await html([account()])).toContain("<title>Accounts under control · dimsync</title>");
  });
});

test("accounts are listed worst first, with one row each", async () => {
  const text = await html(accountsOf(50), "name=-");
  const table = text.slice(text.indexOf('<table class="accounts">'));
  const states = [...table.matchAll(/<td data-head="State"><span class="chip \w+">([\w ]+)</gu)].map(([, state = ""]) =>
    state.replace(" ", "-"),
  );
  expect(states).toHaveLength(50);
  expect(states.map((state) => (accountStates as readonly string[]).indexOf(state))).toEqual(
    states.map((state) => (accountStates as readonly string[]).indexOf(state)).toSorted((a, b) => a - b),
  );
  expect(new Set(states).size).toBe(accountStates.length);
});

test("a row has the state, counts, ages, mode and commit", async () => {
  const row =
    words(await html([account({ state: "drifted", differences: 7, manual: 2, mode: "protect" })]))
      .split("Commit")
      .at(-1) ?? "";
  expect(row).toContain("prod team=sales drifted 0 7 2 4 min ago in 11 min protect 4f2c1ab");
});

test.each<[string, Partial<AccountSummary>, string]>([
  [
    "why a run failed",
    { state: "failing", error: { code: "E_UNAUTHORIZED", message: "The key is wrong. Renew it." } },
    "E_UNAUTHORIZED The key is wrong.",
  ],
  ["why it is suspended, and until when", { state: "suspended", suspension }, "Migration of the warehouse, CHG-1204, resumes in 5 h"],
  ["that a run is in progress", { running: { run: "r", worker: "w", since: before(1000) } }, "running"],
  ["that a check is due", { nextCheckAt: before(1000) }, "due"],
  ["that a push was not compared yet", { isCurrent: false }, "4f2c1ab not checked yet"],
  ["that a push was not committed", { dirty: true }, "4f2c1ab with uncommitted changes"],
  ["violations of policies", { state: "exposed", policyViolations: 2 }, "exposed 2 violations"],
])("a row shows %s", async (_, members, expected) => {
  expect(words(await html([account(members)]))).toContain(expected);
});

describe("causes", () => {
  test("a rule that drifted 40 accounts is one row", async () => {
    const text = words(await html(accountsOf(50), "", { causes: async () => partOf(causesOf(accountsOf(50), 1)) }));
    expect(text).toContain(
      "SchemaConfig/shops, rule pii-email exposed manifests/pii.yaml:9 640 findings, such as Schemas/orders public.customers.email hashed 3 h ago dana@example.com 40 shop-eu-west-000 , shop-us-east-001 and 38 more",
    );
  });

  test("a literal setting is shown as users write it", async () => {
    const [group] = causesOf([account()], 1);
    const cause = "SchemaConfig/shops /schemas/public/tables/customers/columns/e~1mail/hashed";
    const text = await html([account()], "", { causes: async () => partOf(group === undefined ? [] : [{ ...group, cause }]) });
    expect(text).toContain("SchemaConfig/shops <code>public.customers.&quot;e/mail&quot; hashed</code>");
  });

  test("the worst are shown, the rest is folded", async () => {
    const text = await html(accountsOf(50));
    const [shown = "", rest = ""] = text.split('<details id="more-causes">');
    const rows = /data-head="By"/gu;
    expect(shown.match(rows)).toHaveLength(5);
    expect(rest.split("</details>")[0]?.match(rows)).toHaveLength(8);
    expect(rest).toContain("8 more");
  });

  test("beyond 200, the API lists them", async () => {
    const causes: PageReads["causes"] = async (range) => partOf(causesOf([account()], 257), range);
    const text = await html([account()], "", { causes });
    expect(words(text)).toContain("What is wrong, by cause (257)");
    expect(words(text)).toContain("The page shows 200 of 257 causes. The API lists 57 more causes .");
    expect(text).toContain('<a href="/api/v1/findings?offset=200">57 more causes</a>');
    const closed: PageReads["closed"] = async (range) => partOf(closedOf([account()], 203), range);
    const both = words(await html([account()], "", { closed }));
    expect(both).toContain("Closed in the last 24 hours Findings");
    expect(both).toContain("The API lists 3 more causes .");
    expect(both).toContain("dimsync closed at least 1 finding in the last 24 hours.");
  });

  test("one failed read is one cause, before differences that expose nothing", async () => {
    const error = { code: "E_SERVICE_STATUS", message: "GET /v1/tags: status 503. Try again.", since: before(7 * 60_000) };
    const accounts = [1, 2, 3].map((index) => account({ target: `a${index}`, state: "failing", error }));
    const text = words(await html(accounts, "", { causes: async () => partOf(causesOf(accounts, 3)) }));
    expect(text).toMatch(
      /rule pii-email .*rule 1 .*E_SERVICE_STATUS failing GET \/v1\/tags: status 503\. 7 min ago 3 a1 , a2 and 1 more account .*rule 2 /u,
    );
  });

  test("each is a link to the accounts that it affects", async () => {
    const error = { code: "E_TIMEOUT", message: "No response." };
    const accounts = [account({ target: "a" }), account({ target: "b" }), account({ target: "c", state: "failing", error })];
    const causes: PageReads["causes"] = async (range, cause) =>
      partOf(
        causesOf(accounts, 1)
          .filter((group) => cause === undefined || cause === group.cause)
          .map((group) => ({ ...group, accounts: ["b"] })),
        range,
      );
    const text = await html(accounts, "", { causes });
    const named = async (link: string): Promise<readonly string[]> => {
      expect(text).toContain(`<a href="${link}">`);
      const list = (await html(accounts, link.replace(/^.*\?|#.*$/gu, ""), { causes })).split('id="accounts"')[1] ?? "";
      return [...list.matchAll(/<a href="\/accounts\/(\w)">/gu)].map(([, name = ""]) => name);
    };
    expect(await named("/?cause=SchemaConfig%2Fshops%2C%20rule%20pii-email#accounts")).toEqual(["b"]);
    expect(await named("/?cause=E_TIMEOUT#accounts")).toEqual(["c"]);
    expect(words(await html(accounts, "cause=gone"))).toContain("Affected by gone. Show all accounts No account matches the filter.");
  });
});

test("what was closed in the last 24 hours says when, by whom, who had opened it, and for how long", async () => {
  const text = words(await html(accountsOf(50), "", { causes: async () => partOf([]) }));
  expect(text).toContain("Closed in the last 24 hours (6)");
  expect(text).toContain(
    "SchemaConfig/shops, rule pii-email exposed manifests/pii.yaml:9 Schemas/orders public.customers.email hashed 41 min ago by dimsync 4 min dana@example.com shop-eu-west-000",
  );
  expect(text).toContain(
    "82 min ago no repair of dimsync is recorded 4 min the longest of 2 findings, 8 min together dana@example.com, lee@example.com shop-eu-west-000 , shop-us-east-001",
  );
  expect(text).toContain("dimsync closed 1 finding in the last 24 hours.");
  expect(words(await html(accountsOf(50), "", { closed: async () => partOf([]) }))).not.toContain("Closed in");
});

describe("accounts in sync", () => {
  const rowsOf = (text: string): readonly number[] =>
    text.split('<details id="in-sync').map((part) => part.match(/data-head="Mode"/gu)?.length ?? 0);

  test("are folded into one line", async () => {
    const text = await html(accountsOf(50));
    expect(rowsOf(text)).toEqual([30, 20]);
    expect(words(text)).toContain("in sync 20 accounts checked 4 min ago or later");
  });

  test("are not, if someone looks for them", async () => {
    expect(rowsOf(await html(accountsOf(50), "state=in-sync"))).toEqual([20]);
  });

  test("are folded in each group of a label, and the group with the worst account is first", async () => {
    const accounts = [
      account({ target: "a", labels: { team: "sales" } }),
      account({ target: "b", labels: {} }),
      account({ target: "c", labels: { team: "data" }, state: "drifted" }),
      account({ target: "d", labels: { team: "sales" }, state: "exposed", exposedColumns: 1 }),
    ];
    const text = await html(accounts, "group=team");
    expect([...text.matchAll(/<h3>(.*?)<\/h3>/gu)].map(([, title = ""]) => words(title).trim())).toEqual([
      "team=sales (2) 1 exposed",
      "team=data (1)",
      "without team (1)",
    ]);
    expect(rowsOf(text)).toEqual([1, 2, 1]);
    expect(text).toContain('<option value="team" selected>team</option>');
  });
});

describe("the filter", () => {
  test("is in the form again, and can be removed", async () => {
    const text = await html(accountsOf(50), "state=drifted&label=team%3Dsales&name=shop");
    expect(text).toContain('value="shop"');
    expect(text).toContain('<option value="drifted" selected>');
    expect(text).toContain('<option value="team=sales" selected>');
    expect(text).toContain('<a href="/#accounts">Show all</a>');
  });

  test("does not change the totals", async () => {
    expect(words(await html(accountsOf(50), "name=nothing"))).toMatch(
      /6 accounts exposed.*No account matches the filter. Show all accounts/u,
    );
  });
});

describe("long lists", () => {
  test("have pages, with the filter in the links", async () => {
    const text = await html(accountsOf(1100), "name=shop&page=2");
    expect(text).toContain('<a href="/?name=shop&amp;page=1">Previous page</a>');
    expect(text).toContain("Page 2 of 3");
    expect(text.match(/data-head="Mode"/gu)).toHaveLength(500);
    await expect(html(accountsOf(3), "page=2")).rejects.toThrow("The list has 1 page");
    await expect(html(accountsOf(3), "page=0")).rejects.toThrow("page must be a whole number above 0.");
  });

  test("500 accounts are at most 600 kB", async () => {
    expect(Buffer.byteLength(await html(accountsOf(500)))).toBeLessThan(600_000);
  });
});

test("without accounts the page says how to add one", async () => {
  const text = words(await html([]));
  expect(text).toContain("No account is under control yet.");
  expect(text).toContain("dimsync controller push");
  expect(text).not.toContain("Filter");
});

test("names from accounts and manifests are text, not tags", async () => {
  const hostile = '<img src=x onerror="alert(1)">';
  const accounts = [
    account({ target: hostile, labels: { [hostile]: hostile }, commit: hostile, error: { code: hostile, message: hostile } }),
    account({ target: "b", suspension: { ...suspension, reason: hostile } }),
  ];
  const [group] = causesOf(accounts, 1);
  const example = { address: hostile, path: `/${hostile}`, detail: { cause: { file: hostile } } };
  const text = await html(accounts, `name=${encodeURIComponent(hostile)}`, {
    causes: async () => partOf(group === undefined ? [] : [{ ...group, cause: hostile, accounts: [hostile], example }]),
  });
  expect(text).toContain("&lt;img src=x onerror=");
  expect(text).not.toContain("<img");
});

test("a row says that notifications are silenced, and what someone has acknowledged", async () => {
  const silence = { reason: "migration", until: "2026-03-01T11:00:00.000Z", by: "ann" };
  const acknowledged = { events: ["exposed"], by: "lee", reason: "known", at: "2026-03-01T08:00:00.000Z" };
  const text = words(await html([account({ state: "exposed", exposedColumns: 1, silence, acknowledged })]));
  expect(text).toContain("notifications silenced by ann, until 2026-03-01 11:00 UTC : migration");
  expect(text).toContain("exposed acknowledged by lee, not sent again: known");
});
