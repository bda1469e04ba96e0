// A tunnel through a proxy does not show the key, and a certificate is checked.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusedUrl } from "../../../support/loopback.ts";
import { selfSigned, tlsService } from "../../service/certificate.ts";
import { key } from "../../service/client-under-test.ts";
import { proxyTo } from "../../service/connect-proxy.ts";

const create = { method: "POST", path: "/v1/assets", body: {} } as const;
const host = "service.example.com";
const certificate = selfSigned(host);

describe("over TLS, with the certificate in NODE_EXTRA_CA_CERTS", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "dimsync-proxy-"));
    await writeFile(join(folder, "ca.pem"), certificate.cert);
    // Node only reads that variable when it starts, so the client runs in another process, bundled
    // as in dist/.
    await build({
      stdin: {
        contents: `
          import { createClient } from "./src/core/service/client.ts";
          import { tags } from "./src/core/kinds/lists.ts";
          import { Secret } from "./src/core/base/model/settings/secret.ts";
          const client = createClient({ baseUrl: process.argv[2], apiKey: new Secret(${JSON.stringify(key)}), timeoutMs: 600_000, retries: 0, concurrency: 4,
            readOnly: false, userAgent: "dimsync/test", env: process.env });
          const outcome = async (call) => { try { return await call(); } catch ({ code, sent, message }) { return { code, sent, message }; } };
          const read = await outcome(() => client.list(tags));
          const written = await outcome(() => client.send(${JSON.stringify(create)}));
          await client.close();
          console.log(JSON.stringify({ read, written, calls: client.calls() }));`,
        resolveDir: process.cwd(),
        loader: "ts",
      },
      outfile: join(folder, "client.mjs"),
      ...{ bundle: true, platform: "node", format: "esm", target: "node20", logLevel: "error" },
      banner: { js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);' },
    });
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function run(baseUrl: string, env: Record<string, string>) {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "client.mjs"), baseUrl], {
      env: { NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"), ...env },
    });
    return JSON.parse(stdout);
  }

  test.each(["HTTPS_PROXY", "https_proxy"])("%s: reads and writes go through a tunnel that doesn't show the key", async (variable) => {
    const service = await tlsService(certificate);
    const proxy = await proxyTo(service.port);
    const outcome = await run(`https://${host}`, {
      [variable]: proxy.url.replace("//", "//dana:pass%20word@"),
      HTTP_PROXY: await refusedUrl(),
    });

    expect(outcome).toMatchObject({ read: { items: [] }, written: { status: 200, data: { id: "a-1" } }, calls: { GET: 1, POST: 1 } });
    expect(service.received.map(({ method, headers }) => [method, headers.host, headers["x-api-key"]])).toEqual([
      ["GET", host, key],
      ["POST", host, key],
    ]);
    // One for kept connections, one for the POST.
    expect(proxy.tunnels.map(({ target }) => target)).toEqual([`${host}:443`, `${host}:443`]);
    for (const { headers } of [...proxy.tunnels, ...service.received]) {
      if ("x-api-key" in headers) expect(headers["proxy-authorization"]).toBeUndefined();
      else expect(headers["proxy-authorization"]).toBe(`Basic ${Buffer.from("dana:pass word").toString("base64")}`);
    }
  });

  test("a certificate for another name: nothing is sent", async () => {
    const service = await tlsService(certificate);
    const direct = await run(`https://localhost:${service.port}`, {});
    expect(direct).toMatchObject({ read: { code: "E_SERVICE_UNREACHABLE", sent: "never" }, written: { sent: "never" }, calls: {} });
    expect(direct.read.message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    const proxy = await proxyTo(service.port);
    const tunnelled = await run("https://other.example.com", { HTTPS_PROXY: proxy.url });
    expect(tunnelled).toMatchObject({ read: { sent: "never" }, written: { code: "E_SERVICE_UNREACHABLE", sent: "never" }, calls: {} });
    expect(service.received).toEqual([]);
  });
});
