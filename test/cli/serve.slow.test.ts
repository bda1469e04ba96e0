// serve gives an account for rehearsals, with keys of its own.
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dimsyncHere, emptyFolder, ended, startCli } from "./built-cli.ts";

/** `dimsync serve`, once it has printed its address and keys. */
async function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const child = startCli(["serve", ...args], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const end = ended(child);
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  // The message on stderr comes after the last line on stdout.
  await Promise.race([once(child.stderr ?? child, "data"), end]);
  const value = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? "";
  return {
    child,
    end,
    url: value(/^DIMSYNC_BASE_URL=(.+)$/mu),
    key: value(/^DIMSYNC_API_KEY=(.+)$/mu),
    dana: value(/^# API key of dana@example\.com: (.+)$/mu),
  };
}

test("serve prints an address and a key that work, and exits with 0 on Ctrl-C", async () => {
  const { child, end, url, key } = await serve();
  const { code, stdout } = await dimsyncHere(["get", "integrations"], { env: { DIMSYNC_BASE_URL: url, DIMSYNC_API_KEY: key } });
  expect(stdout).toContain("8f1c");
  expect(code).toBe(0);
  child.kill("SIGINT");
  expect((await end).code).toBe(0);
  expect((await end).stderr).toContain("stopping the embedded service");
});

test("serve never prints a key from the environment, and refuses other keys", async () => {
  const { child, end, url } = await serve([], { DIMSYNC_API_KEY: "the-callers-own-key" });
  const refused = await dimsyncHere(["get", "tags"], { env: { DIMSYNC_BASE_URL: url, DIMSYNC_API_KEY: "wrong" } });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/E_UNAUTHORIZED.*401.*DIMSYNC_API_KEY/u);
  child.kill("SIGTERM");
  const { stdout, stderr } = await end;
  expect(stdout + stderr).not.toContain("the-callers-own-key");
});

test("serve --person adds a key for a user, whom the audit log then names", async () => {
  const { url, key, dana } = await serve(["--person", "dana@example.com"]);
  const call = async (path: string, apiKey: string, body?: object) =>
    (
      await fetch(url + path, {
        method: body === undefined ? "GET" : "PUT",
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    ).json();
  await call("/v1/tags/t-1", dana, { description: "changed by hand" });
  expect(await call("/v1/audit-logs?limit=1", key)).toMatchObject({ data: { items: [{ actor: { email: "dana@example.com" } }] } });
});

test("serve --data keeps the account and the keys between runs", async () => {
  const args = ["--data", join(emptyFolder(), "account.json"), "--person", "dana@example.com"];
  const first = await serve(args);
  await fetch(`${first.url}/v1/tags/t-1`, {
    method: "PUT",
    headers: { "x-api-key": first.key, "content-type": "application/json" },
    body: JSON.stringify({ description: "kept" }),
  });
  first.child.kill("SIGINT");
  await first.end;
  const second = await serve(args);
  const { stdout } = await dimsyncHere(["get", "tag", "t-1"], { env: { DIMSYNC_API_KEY: first.key, DIMSYNC_BASE_URL: second.url } });
  expect(stdout).toContain("kept");
  expect([second.key, second.dana]).toEqual([first.key, first.dana]);
});

test("serve reports a port that is in use", async () => {
  const { url } = await serve();
  const { code, stderr } = await dimsyncHere(["serve", "--port", new URL(url).port]);
  expect(stderr).toMatch(/E_SERVE.*EADDRINUSE.*--port/u);
  expect(code).toBe(1);
});
