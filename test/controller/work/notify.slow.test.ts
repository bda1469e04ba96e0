import { createServer, type ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { accountUnderControl, apiKey } from "./account-under-control.ts";

interface Webhook {
  /** A secret: whoever has it can post. */
  readonly url: string;
  readonly posts: readonly { readonly kind: string; readonly event?: string; readonly text: string; readonly exit?: number }[];
  /** Responds with 204 unless it is replaced. */
  respond: (response: ServerResponse) => void;
}

async function webhook(): Promise<Webhook> {
  const posts: Webhook["posts"][number][] = [];
  const hook: { -readonly [K in keyof Webhook]: Webhook[K] } = {
    url: "",
    posts,
    respond: (response) => void response.writeHead(204).end(),
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    posts.push(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    hook.respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const address = server.address();
  hook.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/hooks/canary-hook-5f1d`;
  return hook;
}

const controller = { every: "1m", notify: { url: { $secret: { env: "HOOK" } } } };
/** Of everything that the controller keeps. */
const everyRow = `select coalesce(string_agg(query_to_xml(format('select * from %I.%I', schemaname, tablename), true, false, '')::text, ''), '') as rows
  from pg_tables where schemaname like 'dimsync%'`;

test("a webhook gets each news once: exposed, failed, resolved; and its URL is in no log and not in the database", async () => {
  const hook = await webhook();
  const { push, check, hash, database, log } = await accountUnderControl(controller);
  const env = { HOOK: hook.url };
  await push();
  await check({ env });
  await check({ env });
  expect(hook.posts).toMatchObject([{ kind: "DriftNotification", exit: 2 }]);
  expect(hook.posts[0]?.text).toContain("Schemas/orders");
  // Without its key the check fails.
  await check({ env: { ...env, TEST_API_KEY: "" } });
  await check({ env: { ...env, TEST_API_KEY: "" } });
  expect(hook.posts.slice(1)).toMatchObject([{ kind: "ControllerNotification", event: "failed" }]);
  await hash(true);
  await check({ env });
  await check({ env });
  expect(hook.posts.slice(2)).toMatchObject([{ kind: "DriftNotification", exit: 0 }]);
  await hash(false);
  await check({ env });
  expect(hook.posts.slice(3)).toMatchObject([{ exit: 2 }]);
  const { rows } = await database.query(everyRow, []);
  const all = [rows[0]?.rows, ...log, JSON.stringify(hook.posts)].join("\n");
  expect(all).toContain("customers");
  for (const secret of ["canary-hook", apiKey]) expect(all).not.toContain(secret);
});

test("a webhook that fails or does not respond disturbs no check, and gets the news again", async () => {
  const hook = await webhook();
  const { push, check, log, database } = await accountUnderControl(controller);
  const env = { HOOK: hook.url };
  await push();
  hook.respond = (response) => void response.writeHead(500).end("canary-hook-5f1d");
  expect(await check({ env })).toMatchObject({ state: "exposed", runs: [{ exit: { code: 2 } }] });
  expect(log.at(-1)).toContain("The webhook was not notified: it responded with status 500.");
  const held: ServerResponse[] = [];
  hook.respond = (response) => void held.push(response);
  const checking = check({ env });
  await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 30_000 });
  // The check has ended already, so another one can begin.
  const { rows } = await database.query("select running_run, observed >= wanted as is_current from dimsync_controller.account", []);
  expect(rows).toEqual([{ running_run: null, is_current: true }]);
  hook.respond = (response) => void response.writeHead(204).end();
  expect(await check({ env })).toMatchObject({ state: "exposed", runs: [{}, {}, {}] });
  expect(hook.posts).toHaveLength(3);
  for (const response of held) response.destroy();
  await checking;
  expect(log.join("\n")).toContain("it could not be reached");
  expect(log.join("\n")).not.toContain("canary-hook");
});
