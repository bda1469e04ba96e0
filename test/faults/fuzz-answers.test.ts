import { createServer, request, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EmbeddedService, seedAccount } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { startService } from "../support/service.ts";
import { withoutPrograms } from "../support/without-programs.ts";
import { fuzz, mistakesOf } from "./fuzz-run.ts";
import { canaries, type MixedProject, mixedProject } from "./mixed-project.ts";
import { edited, type NodeEdit, nodeEdits, type TextEdit, textEdits, withNodesEdited } from "./mutations.ts";

// A service or proxy that responds with anything: plan and drift end with a message and never
// write; apply ends with a result.

type Distortion = { readonly nth: number } & ({ readonly text: readonly TextEdit[] } | { readonly nodes: readonly NodeEdit[] });

let service: EmbeddedService;
let between: Server;
let project: MixedProject;
let distortion: Distortion | undefined;
let answers = 0;

withoutPrograms();
beforeAll(async () => {
  service = await startService({ apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" } });
  between = createServer((incoming, response) => {
    const onward = request(`${service.url}${incoming.url}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        answers += 1;
        response.writeHead(answer.statusCode ?? 500, { "content-type": "application/json" });
        response.end(distortion?.nth === answers ? distorted(text, distortion) : text);
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const address = between.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  project = mixedProject({ url }, { timeoutSeconds: 5, retries: 0, settleSeconds: 0 });
});
afterAll(async () => {
  between.closeAllConnections();
  between.close();
  await service.close();
  project.remove();
});

const distorted = (text: string, by: Distortion): string =>
  "text" in by ? edited(text, by.text) : JSON.stringify(withNodesEdited(JSON.parse(text), by.nodes));

const distortions = (most: number): fc.Arbitrary<Distortion> =>
  fc.oneof(
    fc.record({ nth: fc.integer({ min: 1, max: most }), text: textEdits }),
    fc.record({ nth: fc.integer({ min: 1, max: most }), nodes: nodeEdits }),
  );

async function under(by: Distortion, argv: readonly string[]): Promise<readonly string[]> {
  distortion = by;
  answers = 0;
  service.resetCounts();
  return mistakesOf(await runCommand(argv, project.folder, canaries));
}

describe("a response that was changed in transit", () => {
  for (const command of ["plan", "drift"])
    it(`in ${command}: mutations, never a stack trace, a hang or a write`, async () => {
      await fuzz(`answers, ${command}`, distortions(5), 10, async (by) => {
        const wrong = await under(by, [command]);
        return [...wrong, ...Object.keys(service.counts()).filter((method) => method !== "GET")];
      });
    });

  it("in apply: mutations, never a stack trace or a hang, and no object is created twice", async () => {
    await fuzz("answers, apply", distortions(33), 3, async (by) => {
      const wrong = await under(by, ["apply", "--yes"]);
      const { assets, integrations } = service.state();
      const doubled = [
        assets.filter(({ name }) => name === "Archive lake"),
        integrations.filter(({ source }) => source.name === "returns-pg"),
      ];
      // Restarts from the initial account: one service is enough for all inputs.
      service.mutate((state) => Object.assign(state, seedAccount()));
      await runCommand(["unbind", "Asset/archive"], project.folder, canaries);
      for (const address of ["Asset/archive", "Integration/returns", "Tag/gold#8f1c", "Tag/gold#m-1"])
        await runCommand(["resolve", address, "--not-created"], project.folder, canaries);
      return [...wrong, ...doubled.flatMap((found) => (found.length > 1 ? [`${found.length} of ${JSON.stringify(found[0])}`] : []))];
    });
    expect(answers).toBeGreaterThan(0);
  });
});
