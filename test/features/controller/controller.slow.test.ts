// The rules of continuous checks hold with PostgreSQL and with the embedded database: what a check stores, repairs, tells and refuses.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { servePage } from "../../../src/features/controller/server.ts";
import { dimsync } from "../../cli/built-cli.ts";
import { git } from "../../support/git/remote.ts";
import { serve } from "../../support/loopback.ts";
import { ordersManifest } from "../../support/orders.ts";
import { needs } from "../../support/programs.ts";
import { controlledProject, type Project, startWorker } from "./world.ts";

const databases = [
  ["the embedded database", "embedded", {}],
  ["PostgreSQL", "postgresql", needs("postgresql")],
] as const;

describe.each(databases)("with %s", (_name, database, missing) => {
  const project = (options: Partial<Parameters<typeof controlledProject>[0]> = {}) => controlledProject({ database, ...options });
  const writes = ({ service }: Project): number => service.requests.filter(({ method }) => method !== "GET").length;

  test("mode report stores what is exposed, by whom and since when, and sends nothing", missing, async () => {
    const under = await project({ targets: { test: { every: "1m", labels: { team: "data" } } } });
    under.hash(true);
    under.hash(false);
    const found = await (await startWorker(under)).check();
    expect(found).toMatchObject({
      ...{ exposed: 1, differences: 1, error: null, isDue: false, isStale: false, labels: { team: "data" }, mode: "report" },
      commit: git(under.folder, "rev-parse", "HEAD"),
      findings: [{ what: "public.customers.email is not hashed", address: "Schemas/orders", isExposed: true, actor: "dana@example.com" }],
    });
    expect([writes(under), under.isReadable()]).toEqual([0, true]);
  });

  test("mode protect hashes the column again, with one PATCH, and stores who had changed it", missing, async () => {
    const under = await project();
    under.hash(false);
    const worker = await startWorker(under);
    expect(await worker.check()).toMatchObject({ exposed: 0, error: null });
    expect([writes(under), under.isReadable()]).toEqual([1, false]);
    const what = {
      what: "public.customers.email is not hashed",
      actor: "dana@example.com",
      at: expect.any(String),
      doneAt: expect.any(String),
    };
    expect((await worker.row())?.repairs).toMatchObject([what]);
    await worker.check();
    expect(writes(under)).toBe(1);
  });

  test("two workers that check an account at the same moment repair it once", missing, async () => {
    const under = await project();
    const first = await startWorker(under);
    const second = await startWorker(under, { database: first.database });
    await Promise.all([first.check(), second.check()]);
    expect([writes(under), under.isReadable(), (await first.row())?.repairs.length]).toEqual([1, false, 1]);
    expect([...first.log, ...second.log].join("\n")).toContain("Another worker has checked the account meanwhile");
  });

  test("what a manifest changed since the last apply gets nobody's name", missing, async () => {
    const under = await project({ targets: { test: { every: "1m" } }, columns: "email: { hashed: false }" });
    expect(await dimsync(["apply", "--yes", "-t", "test"], { cwd: under.folder, env: under.env })).toMatchObject({ code: 0 });
    under.commit("manifests/all.yaml", ordersManifest("email: { hashed: true }"));
    under.hash(true);
    under.hash(false);
    const found = await (await startWorker(under)).check();
    expect(found?.findings).toEqual([expect.not.objectContaining({ actor: expect.anything() })]);
    expect(found?.findings[0]?.event).toBe(undefined);
  });

  test("a column that was kept hashed and is renamed is exposed, and no request is sent for it", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    expect(await worker.check()).toMatchObject({ exposed: 0 });
    const sent = writes(under);
    under.service.mutate(({ integrations }) => {
      const columns = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["customers"]?.columns ?? {};
      columns["mail"] = { ...columns["email"], hashed: false } as (typeof columns)[string];
      delete columns["email"];
    });
    const found = await worker.check();
    expect(found).toMatchObject({ exposed: 1, findings: [{ isExposed: true, isByHand: true }] });
    expect(found?.findings[0]?.what).toMatch(/^public\.customers\.email is gone .* public\.customers\.mail is new and readable$/u);
    expect(writes(under)).toBe(sent);
  });

  test("what cannot be compared is a difference: an integration that is gone", missing, async () => {
    const under = await project();
    under.service.mutate((state) => {
      state.integrations = state.integrations.filter(({ id }) => id !== "8f1c");
    });
    const found = await (await startWorker(under)).check();
    expect(found).toMatchObject({ exposed: 0, error: null });
    expect(found?.differences).toBeGreaterThan(0);
    expect(found?.findings).toContainEqual(
      expect.objectContaining({ address: "Integration/orders", what: "is not compared (E_INTEGRATION_MISSING)" }),
    );
  });

  test(
    "a change that no event dates is bounded by the last check that did not find it, unless the manifests changed",
    missing,
    async () => {
      const under = await project({ targets: { test: { every: "1m" } }, columns: "email: { hashed: true }" });
      const worker = await startWorker(under, { maxMode: "protect" });
      expect(await dimsync(["apply", "--yes", "-t", "test"], { cwd: under.folder, env: under.env })).toMatchObject({ code: 0 });
      const before = await worker.check();
      expect(before).toMatchObject({ exposed: 0 });
      under.service.mutate(({ integrations }) => {
        const column = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["customers"]?.columns["email"];
        if (column !== undefined) column.hashed = false;
      });
      const path = "/schemas/public/tables/customers/columns/email/hashed";
      expect((await worker.check())?.findings).toMatchObject([{ path, after: before?.checkedAt }]);
      under.commit("manifests/all.yaml", ordersManifest("email: { hashed: true }, phone: { hashed: true }"));
      await worker.sweep();
      const found = (await worker.check())?.findings ?? [];
      expect(found.map(({ path: of, after }) => [of.split("/").at(-2), after])).toEqual([
        ["email", before?.checkedAt],
        ["phone", undefined],
      ]);
    },
  );

  test("the page of an account has the report of its last check, and no secret", missing, async () => {
    const under = await project();
    under.service.mutate(({ integrations: [orders] }) => {
      if (orders !== undefined) orders.name = `see ${under.env["KEY"]}`;
    });
    const worker = await startWorker(under, { maxMode: "report" });
    await worker.check();
    const page = await servePage(worker.database, { listen: "127.0.0.1:0", token: "" });
    onTestFinished(page.close);
    const get = async (path: string): Promise<string> => await (await fetch(page.url + path)).text();
    expect(JSON.parse(await get("/api/accounts/test")).report).toMatchObject({ kind: "DriftReport", target: "test" });
    expect(await get("/accounts/test")).toContain("Schemas/orders");
    const all = await Promise.all(["/", "/accounts/test", "/api/accounts", "/api/accounts/test", "/metrics"].map(get));
    expect(all.filter((text) => text.includes("canary"))).toEqual([]);
  });

  test("--max-mode report sends nothing, whatever the mode of the account", missing, async () => {
    const under = await project();
    expect(await (await startWorker(under, { maxMode: "report" })).check()).toMatchObject({ exposed: 1 });
    expect(writes(under)).toBe(0);
  });

  test("what a repair sends is in the row before it is sent", missing, async () => {
    let seen: Promise<unknown> | undefined;
    let worker: Awaited<ReturnType<typeof startWorker>> | undefined;
    const under = await project({
      onExchange({ method }) {
        if (method === "PATCH") seen = worker?.row();
      },
    });
    worker = await startWorker(under);
    await worker.check();
    expect(await seen).toMatchObject({ repairs: [{ address: "Schemas/orders", what: "public.customers.email is not hashed" }] });
  });

  test("a failure doubles the interval, up to a day, and one success resets it", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    const minutesTo = async (moment: string): Promise<number> =>
      Number((await worker.sql(`select extract(epoch from ${moment}) / 60 as m from dimsync_controller.account`))[0]?.["m"]);
    /** The check chose its interval at a moment between `begun` and now. */
    const expectInterval = async (begun: number, expected: number): Promise<void> => {
      expect((await minutesTo("next_at")) - begun).toBeGreaterThanOrEqual(expected * 0.9);
      expect(await minutesTo("next_at - now()")).toBeLessThanOrEqual(expected * 1.1);
    };
    under.service.addFault("GET .*=status:500");
    for (const expected of [2, 4, 8]) {
      const begun = await minutesTo("now()");
      expect(await worker.check()).toMatchObject({ error: expect.stringContaining("500") });
      await expectInterval(begun, expected);
    }
    await worker.sql("update dimsync_controller.account set failures = 40 returning 1");
    const begun = await minutesTo("now()");
    await worker.check();
    await expectInterval(begun, 1440);
    under.service.clearFaults();
    expect(await worker.check()).toMatchObject({ error: null, failures: 0 });
    expect(await minutesTo("next_at - now()")).toBeLessThanOrEqual(1.1);
  });

  test("what could not be read does not hide what was exposed before", missing, async () => {
    const under = await project({ targets: { test: { every: "1m" } } });
    const worker = await startWorker(under);
    await worker.check();
    under.service.addFault("GET .*schemas.*=status:500");
    expect(await worker.check()).toMatchObject({ exposed: 1, failures: 1, findings: [{ isExposed: true }] });
  });

  test("an account that is not checked within three intervals is stale", missing, async () => {
    const worker = await startWorker(await project());
    expect(await worker.row()).toMatchObject({ isStale: false, checkedAt: null });
    await worker.sql("update dimsync_controller.account set added_at = now() - interval '181 seconds' returning 1");
    expect(await worker.row()).toMatchObject({ isStale: true });
    expect(await worker.check()).toMatchObject({ isStale: false });
    await worker.sql("update dimsync_controller.account set checked_at = now() - interval '179 seconds' returning 1");
    expect(await worker.row()).toMatchObject({ isStale: false });
    await worker.sql("update dimsync_controller.account set checked_at = now() - interval '181 seconds' returning 1");
    expect(await worker.row()).toMatchObject({ isStale: true });
  });

  test("a service that does not respond makes the account failing, and nothing is sent", missing, async () => {
    const under = await project({ more: { client: { retries: 0, timeoutSeconds: 0.5 } } });
    const worker = await startWorker(under);
    under.service.addFault("GET .*schemas.*=delay:60000");
    expect(await worker.check()).toMatchObject({ failures: 1, error: expect.stringContaining("timeout"), checkedAt: null, repairs: [] });
    under.service.clearFaults();
    expect([writes(under), (await worker.check())?.exposed, writes(under)]).toEqual([0, 0, 1]);
  });

  test("a worker whose clock is two days ahead keeps the interval of the database", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await worker.check()).toMatchObject({ exposed: 0, error: null, isDue: false, isStale: false });
    const sql = "select extract(epoch from next_at - checked_at) / 60 as minutes from dimsync_controller.account";
    expect(Math.abs(Number((await worker.sql(sql))[0]?.["minutes"]) - 1)).toBeLessThanOrEqual(0.11);
    expect([writes(under), under.isReadable()]).toEqual([1, false]);
  });

  test("a database that cannot write, as on a full disk: nothing is sent, and the account stays due", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    const { executeSql } = worker.database.boss.db;
    await executeSql(
      "create function full_disk() returns trigger language plpgsql as $$ begin raise 'No space left on device' using errcode = '53100'; end $$; create trigger full_disk before update on dimsync_controller.account execute function full_disk()",
    );
    await expect(worker.check()).rejects.toThrow("A statement failed");
    expect(await worker.row()).toMatchObject({ isDue: true, checkedAt: null, repairs: [] });
    expect([writes(under), under.isReadable()]).toEqual([0, true]);
    await executeSql("drop trigger full_disk on dimsync_controller.account");
    expect(await worker.check()).toMatchObject({ exposed: 0, error: null });
    expect([writes(under), under.isReadable()]).toEqual([1, false]);
  });

  test("an interrupted check stores nothing, and the account stays due", missing, async () => {
    const worker = await startWorker(await project());
    const stop = new AbortController();
    stop.abort(new Error("stopped"));
    await expect(worker.check("test", stop.signal)).rejects.toThrow("stopped");
    expect(await worker.row()).toMatchObject({ isDue: true, checkedAt: null, failures: 0 });
  });

  test("a checkout that is older than the newest commit that was checked does not check, and says so", missing, async () => {
    const under = await project();
    const old = await startWorker(under);
    const first = git(under.folder, "rev-parse", "HEAD");
    // The rule is gone: the older checkout would hash the column again.
    const second = under.commit("manifests/all.yaml", ordersManifest("email: { hashed: false }"));
    const newer = await startWorker(under, { database: old.database });
    expect(await newer.check()).toMatchObject({ commit: second, exposed: 0 });
    await old.check();
    expect(await old.row()).toMatchObject({ commit: second });
    expect(old.log).toEqual([expect.stringContaining(`older than commit ${second.slice(0, 12)}`)]);
    expect([writes(under), first]).toEqual([0, expect.not.stringMatching(second)]);
  });

  test("a commit that git does not know is compared by its time", missing, async () => {
    const worker = await startWorker(await project());
    await worker.sql("update dimsync_controller.account set commit = 'f00', commit_at = now() + interval '1 hour' returning 1");
    expect(await worker.check()).toMatchObject({ checkedAt: null });
    await worker.sql("update dimsync_controller.account set commit = 'f00', commit_at = now() - interval '1 hour' returning 1");
    expect(await worker.check()).toMatchObject({ checkedAt: expect.any(String), isStale: false });
  });

  test("a check that a newer commit overtakes stores nothing and sends nothing", missing, async () => {
    let worker: Awaited<ReturnType<typeof startWorker>> | undefined;
    let overtaken: Promise<unknown> | undefined;
    const sql =
      "update dimsync_controller.account set version = version + 1, commit = 'f00', commit_at = now() + interval '1 hour' returning 1";
    const under = await project({
      onExchange() {
        overtaken ??= worker?.sql(sql);
      },
    });
    worker = await startWorker(under);
    expect(await worker.check()).toMatchObject({ commit: "f00", checkedAt: null, repairs: [] });
    await overtaken;
    expect([writes(under), worker.log]).toEqual([0, [expect.stringContaining("checked the account meanwhile")]]);
  });

  test("protect reverts the same change three times in a day, then only reports it", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    for (let round = 0; round < 3; round++) {
      under.hash(false);
      await worker.check();
      expect(under.isReadable()).toBe(false);
    }
    under.hash(false);
    expect(await worker.check()).toMatchObject({
      exposed: 1,
      error: expect.stringMatching(/^E_PROTECT_STOPPED: Schemas\/orders public\.customers\.email/u),
    });
    expect([writes(under), under.isReadable()]).toEqual([3, true]);
    await worker.sql(
      "update dimsync_controller.account set repairs = (select jsonb_agg(one || jsonb_build_object('doneAt', now() - interval '25 hours')) from jsonb_array_elements(repairs::jsonb) one)::text",
    );
    await worker.check();
    expect(under.isReadable()).toBe(false);
  });

  test("a repair whose worker was killed is named by the next check", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    const path = "/schemas/public/tables/customers/columns/email/hashed";
    const begun = JSON.stringify([{ address: "Schemas/orders", path, what: "x", actor: "dana" }]);
    await worker.sql(`update dimsync_controller.account set repairs = '${begun}'`);
    under.hash(true);
    expect(await worker.check()).toMatchObject({ repairs: [{ actor: "dana", doneAt: expect.any(String) }] });
  });

  test("a guard stops a repair, and the account is failing", missing, async () => {
    const names = Array.from({ length: 120 }, (_, index) => `c${index}`);
    const under = await project({ columns: names.map((name) => `${name}: { hashed: true }`).join(", ") });
    under.service.mutate(({ integrations }) => {
      const columns = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["customers"]?.columns ?? {};
      const { email } = columns;
      for (const name of names) if (email !== undefined) columns[name] = { ...email, nameInDestination: name };
    });
    expect(await (await startWorker(under)).check()).toMatchObject({ exposed: 120, error: expect.stringMatching(/^E_GUARD/u) });
    expect([writes(under), under.isReadable()]).toEqual([0, true]);
  });

  test("a locked account is compared and not repaired, and its row says why", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    const lock = ["records", "lock", "-t", "test", "--reason", "migration", "--until", "2999-01-31T18:00:00Z"];
    expect(await dimsync(lock, { cwd: under.folder, env: under.env })).toMatchObject({ code: 0 });
    expect(await worker.check()).toMatchObject({
      exposed: 1,
      locked: expect.stringMatching(/^migration \(since 2\d{3}-\S+ \d\d:\d\d UTC, until 2999-01-31 18:00 UTC\)$/u),
    });
    expect(writes(under)).toBe(0);
    expect(await dimsync(["records", "unlock", "-t", "test"], { cwd: under.folder, env: under.env })).toMatchObject({ code: 0 });
    expect(await worker.check()).toMatchObject({ exposed: 0, locked: null });
  });

  test(
    "the webhook gets one message for each change, again until it is accepted, and what was repaired with who and how long",
    missing,
    async () => {
      let status = 500;
      const hook = await serve((_request, response) => response.writeHead(status).end());
      const under = await project({ notify: { url: { $secret: { env: "HOOK" } } } });
      const worker = await startWorker({ ...under, env: { ...under.env, HOOK: `${hook.url}/canary-hook` } });
      const bodies = () => hook.received.map(({ body }) => JSON.parse(body));
      under.hash(false);
      await worker.check();
      expect(worker.log.at(-1)).toContain("The next check tries again");
      status = 204;
      await worker.check();
      await worker.check();
      expect(bodies()).toHaveLength(2);
      expect(bodies()[1]).toMatchObject({
        target: "test",
        repairs: [{ address: "Schemas/orders", path: "/schemas/public/tables/customers/columns/email/hashed", actor: "dana@example.com" }],
        text: expect.stringMatching(
          /repaired: Schemas\/orders public\.customers\.email hashed, changed by dana@example\.com, readable for \d+ s/u,
        ),
      });
      under.service.addFault("GET .*=status:500");
      await worker.check();
      await worker.check();
      under.service.clearFaults();
      await worker.check();
      expect(bodies().map(({ error }) => typeof error)).toEqual(["undefined", "undefined", "string", "undefined"]);
      expect(worker.log.join("\n")).not.toContain("canary-hook");
    },
  );

  test("a project that cannot be loaded any more makes the account failing, with the place", missing, async () => {
    const under = await project();
    const worker = await startWorker(under);
    await worker.check();
    under.commit("dimsync.yaml", "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { test: { baseUrl: nowhere } }\n");
    await worker.sweep();
    expect(await worker.check()).toMatchObject({ failures: 1, error: expect.stringMatching(/^E_BASE_URL: .*dimsync\.yaml:4/u) });
  });

  test("a target that is gone from the checkout is forgotten after an hour", missing, async () => {
    const under = await project({ targets: { test: {}, other: {} } });
    const worker = await startWorker(under);
    await worker.sql("update dimsync_controller.account set seen_at = now() - interval '61 minutes' where target = 'other' returning 1");
    const text = "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n";
    under.commit(
      "dimsync.yaml",
      `${text}targets: { test: { baseUrl: "${under.service.url}", apiKey: { $secret: { env: KEY } }, controller: {} } }\n`,
    );
    await worker.sweep();
    expect([await worker.row("other"), (await worker.row("test"))?.target]).toEqual([undefined, "test"]);
  });

  test("neither a key nor a webhook is in the database", missing, async () => {
    const hook = await serve((_request, response) => response.writeHead(500).end());
    const under = await project({ notify: { url: { $secret: { env: "HOOK" } } } });
    const worker = await startWorker({ ...under, env: { ...under.env, HOOK: `${hook.url}/canary-hook` } });
    under.service.mutate(({ integrations: [orders] }) => {
      if (orders !== undefined) orders.name = `see ${under.env["KEY"]}`;
    });
    await worker.check();
    const stored = JSON.stringify(await worker.sql("select * from dimsync_controller.account"));
    expect([stored.includes("canary"), worker.log.join("\n").includes("canary")]).toEqual([false, false]);
  });
});
