import { expect, test } from "vitest";
import { serve } from "../service/loopback.ts";
import { ended, quickstart, quickstartSecrets, startCli } from "./built-cli.ts";

const commands = [
  "plan",
  "plan -o json",
  "drift",
  "import --dry-run",
  "doctor",
  "get integrations",
  "audit",
  "snapshot --out s.json",
  "render --expand",
  "explain SchemaConfig/orders public",
];

test.each(commands)("dimsync %s, interrupted while the service is slow, ends with 130 and prints no partial output", async (command) => {
  // It never responds; the signal is sent after the first request.
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const child = startCli(command.split(" "), { cwd: quickstart(), env: { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" } });
  const { code, stdout, stderr } = await ended(child);
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toBe("\ndimsync: interrupted.\n");
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
});

test("dimsync apply, interrupted before anything was sent, says so in its result", async () => {
  const service = await serve((_request, _response, turn) => turn === 0 && child.kill("SIGINT"));
  const env = { ...quickstartSecrets, DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "key" };
  const child = startCli(["apply", "--yes", "-o", "json"], { cwd: quickstart(), env });
  const { code, stdout, stderr } = await ended(child);
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ kind: "Result", items: [], exit: { code: 130 } });
  expect(stderr).toBe("\ndimsync: interrupted. No new requests are started; writes in flight finish. Interrupt again to stop at once.\n");
  expect(new Set(service.received.map(({ method }) => method))).toEqual(new Set(["GET"]));
});
