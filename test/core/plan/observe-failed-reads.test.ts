// A failed read is one error with its cause, and what could be read is compared.

import { describe, expect, it } from "vitest";
import type { Result } from "../../../src/core/base/model/plan.ts";
import type { AccountState } from "../../../src/embedded/index.ts";
import { seedAccount } from "../../../src/embedded/index.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { refusedUrl } from "../../support/loopback.ts";
import { keyVariable } from "../../support/project-folder.ts";
import { blockedSteps } from "../../support/steps.ts";
import { type Scene, scene } from "../apply/scene.ts";

const total = 40;

const configOf = (id: string): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: s-${id} }
spec:
  integration: { id: "${id}" }
  rules: [{ id: email, match: { column: email }, set: { hashed: true } }]
`;

const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold }\n";

/** The seed's first integration, 40 times. */
function fleet(): AccountState {
  const state = seedAccount();
  const [model] = state.integrations;
  if (model === undefined) throw new Error("The seed has no integration.");
  return { ...state, integrations: ids.map((id) => ({ ...model, id, name: id })) };
}

const ids = Array.from({ length: total }, (_, i) => `id-${i}`);
const manifests = [...ids.map(configOf), tag].join("---\n");
const fleetScene = (faults: readonly string[] = []): Promise<Scene> =>
  scene(manifests, { service: { state: fleet(), faults }, config: { client: { retries: 0 } } });

const problemCodes = (document: Pick<Result, "findings">): readonly string[] =>
  diagnosticsOf(document).flatMap(({ severity, code }) => (severity === "error" ? [code] : []));

describe("a cause that all reads share is one error", () => {
  it.each([["plan"], ["drift"], ["apply", "--yes"]])(
    "a wrong key: the requests of %s stop, it says so once and first, exits with 1, and claims nothing about the account",
    async (...argv) => {
      const at = await fleetScene();
      const { code, stdout } = await at.run(argv, { [keyVariable]: "wrong" });
      const count = (text: RegExp) => stdout.match(text)?.length ?? 0;
      expect([code, count(/refused the API key/gu), count(/Not compared, because a read that it needs failed\./gu)]).toEqual([1, 1, 1]);
      expect(stdout.indexOf("refused the API key")).toBeLessThan(stdout.indexOf("✗"));
      expect(count(/^✗ /gmu)).toBe(1);
      if (argv[0] !== "apply") expect(stdout).toContain("and 38 more objects");
      expect(stdout).not.toMatch(/no changes|no differences/iu);
      expect(at.service.requests.length).toBeLessThanOrEqual(8);
    },
  );

  it("a wrong key, in JSON and Markdown", async () => {
    const at = await fleetScene();
    const { stdout } = await at.run(["plan", "-o", "json"], { [keyVariable]: "wrong" });
    const document = JSON.parse(stdout) as Result;
    expect(problemCodes(document)).toEqual(["E_READ_FAILED"]);
    expect(diagnosticsOf(document)[0]?.message).toMatch(
      /^GET \/v1\/\S+: the service refused the API key with status 401\..* \d+ more reads? failed/su,
    );
    const markdown = await at.run(["plan", "-o", "markdown"], { [keyVariable]: "wrong" });
    expect([markdown.stdout.match(/refused the API key/gu)?.length, markdown.stdout.match(/^- `✗`/gmu)?.length]).toEqual([1, 1]);
  });

  it("a closed port", async () => {
    const at = await fleetScene();
    const { code, stdout } = await at.run(["plan", "-o", "json"], { DIMSYNC_BASE_URL: await refusedUrl(), DIMSYNC_API_KEY: "key" });
    const document = JSON.parse(stdout) as Result;
    expect({ code, codes: problemCodes(document) }).toEqual({ code: 1, codes: ["E_READ_FAILED"] });
    expect(diagnosticsOf(document)[0]?.message).toContain("ECONNREFUSED");
  });

  it("a service that fails in the middle of reading: what was read is compared", async () => {
    const at = await fleetScene();
    at.service.addFault("GET /v1/integrations/id-[0-3].*=status:500");
    const { code, plan } = await at.plan();
    expect({ code, codes: problemCodes(plan) }).toEqual({ code: 1, codes: ["E_READ_FAILED"] });
    const failed = ids.filter((id) => /^id-[0-3]/u.test(id)).length;
    expect(diagnosticsOf(plan)[0]?.message).toContain(`${failed - 1} more reads failed`);
    expect(blockedSteps(plan)).toHaveLength(failed);
  });
});

describe("different causes stay apart", () => {
  it("one list that the key may not read is named, and the others are read", async () => {
    const at = await fleetScene(["GET /v1/tags=status:403"]);
    const { code, plan } = await at.plan();
    expect({ code, codes: problemCodes(plan) }).toEqual({ code: 1, codes: ["E_READ_FAILED"] });
    expect(diagnosticsOf(plan)[0]?.message).toMatch(/^GET \/v1\/tags: the service refused the API key with status 403/u);
    expect(diagnosticsOf(plan)[0]?.message).not.toContain("more read");
    expect(blockedSteps(plan)).toMatchObject([{ address: "Tag/gold" }]);
  });

  it("two statuses are two errors", async () => {
    const at = await fleetScene(["GET /v1/tags=status:403", "GET /v1/integrations/id-7/=status:500"]);
    expect(diagnosticsOf((await at.plan()).plan).map(({ address, message }) => [address, message.split(":")[0]])).toEqual([
      ["Schemas/id-7", "GET /v1/integrations/id-7/schemas"],
      [undefined, "GET /v1/tags"],
    ]);
  });
});
