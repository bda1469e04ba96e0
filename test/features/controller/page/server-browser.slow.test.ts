import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { type StatusPage, startPage } from "../../../../src/features/controller/page/server.ts";
import type { AccountSummary } from "../../../../src/features/controller/views/status.ts";
import { axeViolations, pageWidth, tabOfSuite, views } from "../../../support/chromium.ts";
import { needs } from "../../../support/programs.ts";
import { sampleOf } from "../../../support/sample.ts";
import { started } from "./ask.ts";
import { account, accountsOf, bundle, causesOf, detail, findings, now, partOf, run, worldOf } from "./world.ts";

describe("in Chromium", needs("chromium"), () => {
  const sites = new Map<number, StatusPage>();
  afterAll(async () => {
    for (const site of sites.values()) await site.close();
  });
  const { open, openApart, said } = tabOfSuite();

  /** The URL of a page with so many accounts, which tests share: each origin takes a process of its own. */
  async function siteOf(count: number): Promise<string> {
    const site = sites.get(count) ?? (await startPage({ reads: worldOf(accountsOf(count)), host: "127.0.0.1", port: 0, now: () => now }));
    sites.set(count, site);
    return site.url;
  }

  const paths = {
    "3 accounts": [3, "/"],
    "50 accounts": [50, "/"],
    "500 accounts": [500, "/"],
    "no account": [0, "/"],
    "no match": [50, "/?name=nothing"],
    "groups of a label": [50, "/?group=team"],
    "a cause": [50, "/?cause=E_UNAUTHORIZED"],
    "an exposed account": [50, "/accounts/shop-eu-west-000"],
    "a failing account": [50, "/accounts/shop-eu-west-009"],
    "a suspended account": [50, "/accounts/shop-us-east-004"],
    "a pending account": [50, "/accounts/shop-eu-west-006"],
    "an account in sync": [50, "/accounts/shop-ap-south-005"],
    "a run": [50, `/runs/${run.id}`],
    "a bundle": [50, `/bundles/${bundle.digest}`],
    "a page that does not exist": [3, "/nothing"],
  } as const;

  const names = Object.keys(paths) as readonly (keyof typeof paths)[];
  const cases = names.flatMap((name) => Object.entries(views).map(([view, how]) => ({ name, view, how })));
  test.each(sampleOf(cases, { name: "axe", kindOf: ({ name }) => name }))(
    "$name, $view: axe-core finds nothing, and nothing overflows",
    async ({ name, how }) => {
      const [count, path] = paths[name];
      const tab = await open((await siteOf(count)) + path, how);
      await tab.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
      expect(await axeViolations(tab)).toEqual([]);
      expect(await pageWidth(tab)).toBe(how.width);
      expect(said.filter((text) => name !== "a page that does not exist" || !text.includes("404"))).toEqual([]);
    },
  );

  test("with the keyboard: filter, open an account, open a cause, go back", async () => {
    const tab = await open(await siteOf(50));
    await tab.keyboard.press("Tab");
    expect(await tab.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    for (let presses = 0; presses < 60; presses++) {
      await tab.keyboard.press("Tab");
      if ((await tab.evaluate("document.activeElement.id")) === "filter-name") break;
    }
    await tab.keyboard.type("eu-west-000");
    await tab.keyboard.press("Enter");
    await tab.waitForURL(/name=eu-west-000/u);
    expect(await tab.locator("#accounts tbody tr").count()).toBe(1);
    const link = tab.locator("#accounts tbody a");
    for (let presses = 0; presses < 60; presses++) {
      await tab.keyboard.press("Tab");
      if (await link.evaluate((node) => node === node.ownerDocument.activeElement)) break;
    }
    expect(await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await tab.keyboard.press("Enter");
    await tab.waitForURL(/\/accounts\/shop-eu-west-000$/u);
    const summary = tab.locator("#cause-1 > summary");
    await summary.focus();
    await tab.keyboard.press("Enter");
    expect(await tab.locator("#cause-1").getAttribute("open")).toBeNull();
  });

  test("a button copies a command; without JavaScript there is none", async () => {
    const tab = await openApart({ permissions: ["clipboard-read", "clipboard-write"] });
    await tab.goto(`${await siteOf(50)}/accounts/shop-eu-west-000`);
    const copy = tab.locator("#fix .copy").first();
    await copy.click();
    expect(await tab.evaluate("navigator.clipboard.readText()")).toBe("dimsync drift -t shop-eu-west-000 --resolve revert");
    expect(await copy.textContent()).toBe("Copied");
    const plain = await openApart({ javaScriptEnabled: false });
    await plain.goto(`${await siteOf(50)}/accounts/shop-eu-west-000`);
    expect(await plain.locator("#fix .copy").first().isVisible()).toBe(false);
  });

  test("everything works without JavaScript", async () => {
    const tab = await openApart({ javaScriptEnabled: false });
    await tab.goto(await siteOf(50));
    await tab.getByLabel("State").selectOption("drifted");
    await tab.getByLabel("Label").selectOption("team=finance");
    await tab.getByRole("button", { name: "Filter" }).click();
    await tab.waitForURL(/state=drifted&label=team%3Dfinance/u);
    expect(await tab.locator("#accounts tbody tr").count()).toBe(1);
    expect(await tab.getByLabel("State").inputValue()).toBe("drifted");
    await tab.locator("#accounts tbody a").click();
    expect(await tab.locator("h1").textContent()).toContain("drifted");
    await tab.locator("#cause-1 > summary").click();
    await tab.getByText("The timeline as a table").click();
    expect(await tab.locator("#days tbody tr").count()).toBe(75);
  });

  describe("the page refreshes itself", () => {
    /** A page whose accounts a test can change. */
    async function changing(path: string): Promise<{
      readonly tab: Page;
      readonly set: (accounts: readonly AccountSummary[]) => void;
      readonly reads: () => number;
      readonly close: () => Promise<void>;
    }> {
      let accounts = accountsOf(50);
      let reads = 0;
      const world = (): ReturnType<typeof worldOf> => worldOf(accounts);
      const page = await started({
        reads: {
          ...world(),
          accounts: () => {
            reads++;
            return world().accounts();
          },
          account: (name) => {
            reads++;
            return world().account(name);
          },
          causes: (...given) => world().causes(...given),
        },
      });
      const tab = await openApart();
      // The script waits for 15 s with the clock of the page.
      await tab.clock.install();
      await tab.goto(page.url + path);
      return {
        tab,
        set: (next) => {
          accounts = [...next];
        },
        reads: () => reads,
        close: page.close,
      };
    }

    test("with the new state; filter, scroll position, focus and open details stay", async () => {
      const { tab, set } = await changing("/");
      await tab.getByLabel("Name").fill("half a na");
      await tab.locator("#more-causes > summary").click();
      const link = tab.locator('#accounts a[href="/accounts/shop-us-east-049"]');
      await link.focus();
      await tab.evaluate("scrollTo(0, 700)");
      set([account({ target: "only-one", state: "drifted", differences: 3 }), ...accountsOf(50)]);
      await tab.clock.runFor(16_000);
      await tab.locator("#accounts").getByRole("link", { name: "only-one" }).waitFor();
      expect(await tab.evaluate("scrollY")).toBe(700);
      expect(await tab.getByLabel("Name").inputValue()).toBe("half a na");
      expect(await tab.locator("#more-causes").getAttribute("open")).not.toBeNull();
      expect(await tab.evaluate("document.activeElement.getAttribute('href')")).toBe("/accounts/shop-us-east-049");
      expect(await tab.locator("#totals strong").first().textContent()).toContain("6 accounts exposed");
    });

    test("a card that someone closed stays closed, with its focus", async () => {
      const { tab, reads, set } = await changing("/accounts/shop-eu-west-000");
      const summary = tab.locator("#cause-1 > summary");
      await summary.click();
      const [first, ...rest] = accountsOf(50);
      if (first === undefined) throw new Error("There is no account.");
      set([{ ...first, differences: 4711 }, ...rest]);
      const before = reads();
      await tab.clock.runFor(16_000);
      await tab.locator("#state").getByText("4711").waitFor();
      expect(reads()).toBe(before + 1);
      expect(await tab.locator("#cause-1").getAttribute("open")).toBeNull();
      expect(await tab.evaluate("document.activeElement.parentElement.id")).toBe("cause-1");
    });

    test("it stops while the page is hidden, and while text is selected", async () => {
      const { tab, reads } = await changing("/");
      const before = reads();
      await tab.evaluate("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })");
      await tab.clock.runFor(60_000);
      expect(reads()).toBe(before);
      await tab.evaluate("delete document.hidden; document.getSelection().selectAllChildren(document.querySelector('h1'))");
      await tab.clock.runFor(60_000);
      expect(reads()).toBe(before);
      await tab.evaluate("document.getSelection().removeAllRanges()");
      await tab.clock.runFor(16_000);
      await expect.poll(reads).toBe(before + 1);
    });

    test("a controller that cannot be reached is reported, and its return too", async () => {
      const { tab, close } = await changing("/");
      await close();
      await tab.clock.runFor(16_000);
      await tab.getByText("The controller could not be read since.").waitFor();
      expect(await tab.locator("#lost").getAttribute("role")).toBe("status");
      expect(await tab.locator("#accounts tbody tr").count()).toBe(50);
    });
  });

  test("names from accounts and manifests run nothing", async () => {
    const hostile = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>';
    const reads = worldOf(
      [account({ target: hostile, labels: { [hostile]: hostile }, state: "exposed", exposedColumns: 1, commit: hostile })],
      {
        account: async () =>
          detail({ name: hostile, findings: findings.map((each) => ({ ...each, cause: hostile, address: hostile, actor: hostile })) }),
        causes: async () => partOf(causesOf([account()], 1).map((each) => ({ ...each, cause: hostile, accounts: [hostile] }))),
      },
    );
    const page = await started({ reads });
    for (const path of [
      "/",
      `/accounts/${encodeURIComponent(hostile)}`,
      `/accounts/x?page=${encodeURIComponent(hostile)}`,
      `/bundles/${bundle.digest}`,
    ]) {
      const tab = await open(page.url + path);
      expect(await tab.evaluate("window.ran")).toBeUndefined();
      expect(await tab.locator("img, body script + script").count()).toBe(0);
    }
  });

  describe("a person signs in with the token", () => {
    const token = "0123456789abcdef0123456789abcdef";

    test("in a form, on every kind of page, with and without JavaScript, and out again", async () => {
      const page = await started({ token, base: "/dimsync" });
      for (const javaScriptEnabled of [true, false]) {
        const tab = await openApart({ javaScriptEnabled });
        await tab.goto(`${page.url}/accounts/shop-eu-west-000?page=2`);
        await tab.getByLabel("Token of the controller").fill("not the token at all");
        await tab.getByRole("button", { name: "Sign in" }).click();
        await tab.getByText("This is not the token of the controller.").waitFor();
        await tab.getByLabel("Token of the controller").fill(token);
        await tab.keyboard.press("Enter");
        await tab.waitForURL(/\/dimsync\/accounts\/shop-eu-west-000\?page=2$/u);
        expect(await tab.locator("h1").textContent()).toContain("shop-eu-west-000");
        if (javaScriptEnabled) expect(await tab.evaluate("document.cookie")).toBe("");
        await tab.getByRole("link", { name: "Accounts" }).click();
        await tab.getByRole("button", { name: "Sign out" }).click();
        await tab.waitForURL(/\/dimsync\/login$/u);
        await tab.goto(page.url);
        expect(await tab.getByRole("button", { name: "Sign in" }).count()).toBe(1);
      }
    });

    test("and follows a link in a chat without signing in again", async () => {
      const page = await started({ token });
      const tab = await openApart();
      await tab.goto(`${page.url}/login`);
      await tab.getByLabel("Token of the controller").fill(token);
      await tab.keyboard.press("Enter");
      await tab.locator("#accounts").waitFor();
      // localhost and 127.0.0.1 are two sites for a browser.
      await tab.route("http://localhost:1/", (route) =>
        route.fulfill({ contentType: "text/html", body: `<a href="${page.url}/accounts/shop-eu-west-000">exposed</a>` }),
      );
      await tab.goto("http://localhost:1/");
      await tab.getByText("exposed").click();
      await tab.getByRole("heading", { name: "shop-eu-west-000" }).waitFor();
    });

    test.each(Object.entries(views))("%s: axe-core finds nothing in the form, and nothing overflows", async (_, how) => {
      const page = await started({ token });
      const tab = await open(`${page.url}/login`, how);
      expect(await axeViolations(tab)).toEqual([]);
      expect(await pageWidth(tab)).toBe(how.width);
    });
  });

  test("the policy blocks a script and a style that someone injects", async () => {
    const tab = await open(await siteOf(50));
    await tab.evaluate(`{
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      const style = document.createElement("style");
      style.textContent = "h1 { color: rgb(1, 2, 3) }";
      document.body.append(script, style);
    }`);
    expect(await tab.evaluate("window.ran")).toBeUndefined();
    expect(await tab.evaluate("getComputedStyle(document.querySelector('h1')).color")).not.toBe("rgb(1, 2, 3)");
  });
});
