// A service or proxy that responds with anything: plan and drift end with a message and never
// write; apply ends with a result.
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { eachChange } from "../../src/core/base/model/changes.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import { type AccountState, type Exchange, seedAccount } from "../../src/embedded/index.ts";
import { type Ran, runCommand } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { filesIn } from "../support/project-folder.ts";
import { sampleSeed } from "../support/sample.ts";
import { inForm, startService, type TestService } from "../support/service.ts";
import { readySteps } from "../support/steps.ts";
import { withoutPrograms } from "../support/without-programs.ts";
import { fuzz, mistakesOf } from "./fuzz-run.ts";
import { canaries, type MixedProject, mixedProject } from "./mixed-project.ts";
import { edited, type NodeEdit, nodeEdits, type Retyped, type TextEdit, textEdits, withNodeRetyped, withNodesEdited } from "./mutations.ts";

const client = { timeoutSeconds: 5, retries: 0, settleSeconds: 0 };

type Distort = (text: string, path: string) => string;

let service: TestService;
let url = "";
let between: Server;
let project: MixedProject;
/** Changes the NTH response. */
let distortion: { readonly nth: number; readonly change: Distort } | undefined;
let answers = 0;
let exchanges: Exchange[] = [];

withoutPrograms();
beforeAll(async () => {
  service = await startService({
    ...inForm(sampleSeed % 2 === 0 ? "observed" : "camel"),
    ids: "short",
    state: seedAccount(),
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    extended: true,
    onExchange: (exchange) => void exchanges.push(exchange),
  });
  between = createServer((incoming, response) => {
    const onward = request(`${service.url}${incoming.url}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        answers += 1;
        response.writeHead(answer.statusCode ?? 500, { "content-type": "application/json" });
        response.end(distortion?.nth === answers ? distortion.change(text, `${incoming.method} ${incoming.url?.split("?")[0]}`) : text);
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const address = between.address();
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  project = mixedProject({ url }, client);
});
afterAll(async () => {
  between.closeAllConnections();
  between.close();
  await service.close();
  project.remove();
});

const nthOf = (most: number) => fc.integer({ min: 1, max: most });

const distortions = (most: number): fc.Arbitrary<NonNullable<typeof distortion>> => {
  const textOf = (edits: readonly TextEdit[]) => (text: string) => edited(text, edits);
  const nodesOf = (edits: readonly NodeEdit[]) => (text: string) => JSON.stringify(withNodesEdited(JSON.parse(text), edits));
  return fc.record({ nth: nthOf(most), change: fc.oneof(textEdits.map(textOf), nodeEdits.map(nodesOf)) });
};

async function run(argv: readonly string[], by: typeof distortion, folder = project.folder): Promise<Ran> {
  distortion = by;
  answers = 0;
  exchanges = [];
  return runCommand(argv, folder, canaries);
}

const writes = (): readonly Exchange[] => exchanges.filter(({ method }) => method !== "GET");

describe("a response that was changed in transit", () => {
  for (const command of ["plan", "drift"])
    it(`in ${command}: mutations, never a stack trace, a hang or a write`, async () => {
      await fuzz(`answers, ${command}`, distortions(5), 10, async (by) => [
        ...mistakesOf(await run([command], by)),
        ...writes().map(({ method }) => method),
      ]);
    });

  it("in apply: mutations, never a stack trace or a hang, and no object is created twice", async () => {
    await fuzz("answers, apply", distortions(33), 3, async (by) => {
      const wrong = mistakesOf(await run(["apply", "--yes"], by));
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

describe("any JSON in any place of a response", () => {
  let applied: AccountState;
  /** The project after apply, and the same without the records of that run. */
  const folders: string[] = [];
  beforeAll(async () => {
    service.mutate((state) => Object.assign(state, seedAccount()));
    const whole = mixedProject({ url }, client);
    const { code, stdout, stderr } = await run(["apply", "--yes"], undefined, whole.folder);
    expect(code, stdout + stderr).toBe(0);
    applied = service.state();
    const fresh = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-fuzz-")));
    cpSync(whole.folder, fresh, { recursive: true });
    folders.push(whole.folder, fresh);
    rmSync(join(fresh, ".dimsync"), { recursive: true });
    const bindings = parse(filesIn(fresh).get("dimsync.bindings.yaml") ?? "");
    bindings.targets.test = { "Asset/lake": bindings.targets.test["Asset/lake"] };
    writeFileSync(join(fresh, "dimsync.bindings.yaml"), stringify(bindings));
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const commands = {
    plan: ["plan", "-o", "json"],
    drift: ["drift", "-o", "json"],
    import: ["import", "--dry-run"],
    doctor: ["doctor", "--all-integrations"],
    apply: ["apply", "--yes", "-o", "json"],
  };
  const input = fc.record({
    nth: nthOf(20),
    node: fc.nat({ max: 100_000 }),
    value: fc.constantFrom<unknown>(null, true, 0, 7.5, "", "x", [], [null], {}, { id: 1 }),
    isFresh: fc.boolean(),
  });

  for (const [command, argv] of Object.entries(commands))
    it(`in ${command}: names the request, changes nothing, and makes up no value`, async () => {
      await fuzz(`any JSON, ${command}`, input, 8, async ({ nth, node, value, isFresh }) => {
        const folder = realpathSync(mkdtempSync(join(tmpdir(), "dimsync-fuzz-")));
        const copy = (): void => cpSync(folders[isFresh ? 1 : 0] ?? "", folder, { recursive: true });
        try {
          copy();
          const plain = await run(argv, undefined, folder);
          rmSync(folder, { recursive: true });
          copy();
          let changed: (Retyped & { readonly path: string }) | undefined;
          const change: Distort = (text, path) => {
            const retyped = withNodeRetyped(JSON.parse(text), node, value);
            changed = retyped && { ...retyped, path };
            return changed === undefined ? text : JSON.stringify(changed.document);
          };
          const ran = await run(argv, { nth, change }, folder);
          service.mutate((state) => Object.assign(state, structuredClone(applied)));
          // A value may be absent, and an id may be a number. An owner in no known form counts as absent.
          const isAbsent = value === null || changed?.key === "owner";
          const isAllowed = isAbsent || (typeof value === "number" && changed?.key === "id");
          const isNamed = isAllowed || changed === undefined || ran.code === plain.code || (ran.stdout + ran.stderr).includes(changed.path);
          // A number is an id, so this is another object than before.
          const isOther = value === 0 && changed !== undefined && (changed.key === "id" || /^\d+$/u.test(changed.key));
          return [
            ...mistakesOf(ran),
            ...(isNamed ? [] : [`${changed?.path} is not named: ${ran.stdout}${ran.stderr}`]),
            ...(isOther ? [] : writes().flatMap(caused)),
            ...(!isOther && (command === "plan" || command === "drift") ? madeUp(plain, ran, isAbsent ? changed?.key : undefined) : []),
          ].map((what) => `${changed?.path} ${changed?.key}: ${what}`);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      });
    });

  /** The account is as declared, so nothing is to be written but values that protect, if the service no longer shows them. */
  const caused = ({ method, path, requestBody }: Exchange): readonly string[] => {
    const text = JSON.stringify(requestBody);
    const protects = method === "PATCH" && path.endsWith("/schemas") && !/"enabled":true|"hashed":false/u.test(text);
    // What a response does not show of a tag is written again.
    const tag = applied.tags.find(({ id }) => path === `/v1/tags/${id}`);
    const repeats = method === "PUT" && tag !== undefined && isDeepStrictEqual({ ...tag, ...(requestBody as object) }, { ...tag });
    return protects || repeats ? [] : [`${method} ${path} ${text}`];
  };

  const changesIn = ({ stdout }: Ran): readonly string[] => {
    if (stdout === "") return [];
    return readySteps(JSON.parse(stdout) as Plan).flatMap((item) =>
      [...eachChange(item)].flatMap(({ path, before, after, risk }) =>
        before === undefined && risk === "protects" ? [] : [JSON.stringify([item.address, path, before, after])],
      ),
    );
  };
  /** What an object lacks if a response does not show it. So the declared value is sent. */
  const emptyIfAbsent = { "Asset/": ["description"], "Tag/": ["description", "owner", "taggedResources"] };
  const madeUp = (plain: Ran, ran: Ran, absent: string | undefined): readonly string[] => {
    const isOfAbsent = (one: string): boolean =>
      absent !== undefined &&
      Object.entries(emptyIfAbsent).some(
        ([kind, names]) => names.includes(absent) && one.startsWith(`["${kind}`) && one.includes(`,"/${absent}`),
      );
    return changesIn(ran).filter((one) => !changesIn(plain).includes(one) && !isOfAbsent(one));
  };
});
