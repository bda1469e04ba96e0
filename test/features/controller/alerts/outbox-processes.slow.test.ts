import { expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { dimsync, startCli } from "../../../cli/built-cli.ts";
import { ordersManifest } from "../../../support/orders.ts";
import { sharedPostgres } from "../../../support/postgres/shared.ts";
import { fileNeeds } from "../../../support/programs.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { startService } from "../../../support/service.ts";
import { waiting } from "../../../support/waiting.ts";
import { startReceiver } from "./receiver.ts";

fileNeeds("postgresql");

const count = 20;

test("a message that a worker was sending when it was killed is sent by one of two others, and no event is lost or doubled", async () => {
  const service = await startService({ apiKeys: { "a-key": "bot@example.com" } });
  onTestFinished(() => service.close());
  const receiver = await startReceiver();
  receiver.respond = () => undefined;
  const target = `{ baseUrl: "${service.url}", apiKey: { $secret: { env: KEY } }, controller: { every: 1m, labels: { team: data } } }`;
  const cwd = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
notify:
  group: 1s
  receivers:
    - { name: chat, type: json, url: { $secret: { env: HOOK } } }
    - { name: broken, type: json, url: { $secret: { env: NOT_SET } } }
targets:
${Array.from({ length: count }, (_, index) => `  account-${index}: ${target}`).join("\n")}
`,
    "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
  });
  const url = await (await sharedPostgres()).database();
  const database = openDatabase(url, 2);
  onTestFinished(() => database.close());
  const start = () => {
    const args = ["controller", "run", "--watch", "--listen", "127.0.0.1:0", "--public-url", "https://status.example.com/"];
    const child = startCli(args, { cwd, env: { KEY: "a-key", HOOK: receiver.url, DIMSYNC_DATABASE_URL: url } });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const first = start();
  await vi.waitFor(() => expect(receiver.requests.length).toBeGreaterThan(0), waiting);
  first.kill("SIGKILL");
  const interrupted = receiver.requests.splice(0).map(({ message }) => message.id);
  receiver.respond = (response) => void response.writeHead(204).end();
  start();
  start();
  await vi.waitFor(async () => {
    const { rows } = await database.query(
      "select count(*)::integer as sent from dimsync_controller.event where deliveries -> 'chat' ->> 'outcome' = 'sent'",
      [],
    );
    expect(rows).toEqual([{ sent: count }]);
  }, waiting);
  const messages = receiver.requests.map(({ message }) => message);
  expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(interrupted));
  expect(messages.flatMap(({ accounts }) => accounts.map(({ account }) => account)).sort()).toEqual(
    Array.from({ length: count }, (_, index) => `account-${index}`).sort(),
  );
  // The receiver without a URL fails by itself.
  const status = await dimsync(["controller", "status"], { env: { DIMSYNC_DATABASE_URL: url } });
  expect(status.stdout).toMatch(/^Receiver broken of \S+ does not get notifications: .*NOT_SET is not set/mu);
  expect(status.stdout).not.toContain("Receiver chat");
  const { rows } = await database.query(
    "select distinct deliveries -> 'broken' -> 'error' ->> 'message' as why from dimsync_controller.event",
    [],
  );
  expect(rows).toEqual([{ why: expect.stringContaining("NOT_SET is not set") }]);

  const run = (...args: readonly string[]) => dimsync(["controller", ...args], { env: { DIMSYNC_DATABASE_URL: url, USER: "ann" } });
  receiver.requests.splice(0);
  const tests = [["--test"], ["--test", "chat"], ["--test", "chats"]].map((flags) => run("notify", ...flags));
  expect(await Promise.all(tests)).toEqual([
    expect.objectContaining({ code: 1, stdout: expect.stringMatching(/^broken .*: failed: .*NOT_SET.*\nchat .*: sent$/mu) }),
    expect.objectContaining({ code: 0 }),
    expect.objectContaining({ code: 1, stderr: expect.stringContaining("Did you mean chat?") }),
  ]);
  expect(receiver.requests.map(({ message }) => message.event)).toEqual(["test", "test"]);
  const reason = ["--reason", "migration"];
  expect(await run("silence", "--all", "--until", "2h", ...reason)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("20 accounts wait until"),
  });
  expect(await run("acknowledge", "account-0", ...reason)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("account-0: exposed"),
  });
  expect(await run("suspend", "--label", "team=data", "--until", "2h", ...reason)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("20 accounts with team=data are suspended"),
  });
  expect(await run("resume", "account-3")).toMatchObject({ code: 0 });
  const shown = (await run("status", "-o", "json")).stdout;
  const accounts: readonly { readonly name: string; readonly state: string; readonly silence: object }[] = JSON.parse(shown).accounts;
  expect(accounts.filter(({ state }) => state === "suspended")).toHaveLength(count - 1);
  expect(accounts.map(({ silence }) => silence)).toEqual(accounts.map(() => expect.objectContaining({ reason: "migration", by: "ann" })));
  expect(await run("suspend", "account-0", "--all", "--until", "2h", ...reason)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("exactly one"),
  });
  expect(await run("silence", "--all", "--until", "0s")).toMatchObject({ code: 0, stderr: expect.stringContaining("no longer wait.") });
  expect(await run("silence", "--label", "team=x", "--until", "2h", ...reason)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No account has the label"),
  });
});
