// audit and drift --resolve print what was found and what was edited.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { momentFlag } from "../../../src/cli/argument-values.ts";
import { type Context, contextOf } from "../../../src/cli/context.ts";
import type { GlobalFlags } from "../../../src/cli/flags.ts";
import { runAudit } from "../../../src/features/audit/command.ts";
import type { AuditFlags } from "../../../src/features/audit/index.ts";
import { acceptReport } from "../../../src/features/drift/command.ts";
import type { DriftFlags } from "../../../src/features/drift/index.ts";
import { env, type Story, story } from "../../core/drift/account.ts";
import { capturedIo } from "../../support/captured-io.ts";

const noFlags = {
  target: [],
  var: [],
  varFile: [],
  only: [],
  exclude: [],
  allowPath: [],
  output: [],
  failOn: [],
  allow: [],
  color: false,
};
const manifest =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec:\n  match: { name: Orders }\n  expect: { paused: false }\n";

/** A command's context in the folder of the test, and its output. */
function contextIn<Flags extends GlobalFlags>(
  { folder, service }: Story,
  flags: Flags,
): { readonly context: Context<Flags>; readonly printed: () => { readonly stdout: string; readonly stderr: string } } {
  const { io, printed } = capturedIo({ env: env(service), cwd: folder });
  return { context: contextOf(io, flags), printed };
}

const pause = ({ service }: Story, paused: boolean): void =>
  service.mutate(
    (state) => {
      for (const one of state.integrations) if (one.id === "8f1c") one.paused = paused;
    },
    { email: "dana@example.com" },
    `Integration 8f1c "Orders" ${paused ? "paused" : "resumed"}`,
  );

describe("dimsync audit", () => {
  const audit = async (flags: Partial<AuditFlags>, prepare: (reported: Story) => void = () => {}) => {
    const reported = await story({ "a.yaml": manifest });
    prepare(reported);
    const { context, printed } = contextIn<AuditFlags>(reported, { ...noFlags, ...flags });
    const code = await runAudit(context);
    return { code, ...printed() };
  };

  test("prints a table of all pages, newest first", async () => {
    const { code, stdout, stderr } = await audit({}, (reported) => {
      for (let index = 0; index < 120; index++) reported.service.mutate(() => {}, { email: "sam@example.com" }, `event ${index}`);
      pause(reported, true);
    });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^TIMESTAMP +ACTOR EMAIL +EVENT +CONTEXT USER ?AGENT +CONTEXT IP ?ADDRESS$/u);
    expect(lines[1]).toMatch(/^\S+Z +dana@example\.com +Integration 8f1c "Orders" paused +Mozilla\/5\.0 +203\.0\.113\.7$/u);
    expect(lines).toHaveLength(1 + 121 + 12);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("-o json, since, until and actor", async () => {
    const { stdout } = await audit({ output: ["json"], since: "2026-02-10", until: "2026-02-12T00:00:00Z", actor: "Privacy@example.com" });
    const log = JSON.parse(stdout) as { readonly totalItems: number; readonly items: readonly { readonly event: string }[] };
    expect(log.totalItems).toBe(2);
    expect(log.items.map(({ event }) => event)).toEqual(['Tag t-1 "PII" attached to Integration 8f1c "Orders"', 'Tag t-1 "PII" created']);
  });

  test("an empty window", async () => {
    expect(await audit({ since: "2020-01-01", until: "2020-01-02" })).toMatchObject({ code: 0, stdout: "No entries.\n" });
  });

  test.each<[Partial<AuditFlags>, string]>([
    [{ since: "yesterday" }, "Invalid --since"],
    [{ until: "1" }, "Invalid --until"],
    [{ output: ["html"] }, "Formats of this command: human, json"],
    [{ output: ["json", "human"] }, "Only one format can be written to stdout"],
  ])("%j is refused before any request", async (flags, message) => {
    await expect(audit(flags)).rejects.toThrow(message);
  });
});

test("invalid flags are refused before any request", () => {
  expect(() => momentFlag("--since", "soon", Date.now())).toThrow("Invalid --since");
});

test("--resolve accept prints the edit and what was not accepted on stderr", async () => {
  const reported = await story({
    "a.yaml": manifest,
    "t.yaml":
      "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, taggedBy: u-3, resources: [{ integration: orders }] }\n",
  });
  pause(reported, true);
  const { context, printed } = contextIn<DriftFlags>(reported, { ...noFlags, resolve: "accept" });
  await acceptReport(context, await reported.load(), await reported.report());
  const { stdout, stderr } = printed();
  expect(stdout).toBe("");
  expect(stderr).toContain("--- a/manifests/a.yaml\n+++ b/manifests/a.yaml\n");
  expect(stderr).toContain("-  expect: { paused: false }\n+  expect: { paused: true }\n");
  expect(stderr).toContain(
    "Changed manifests/a.yaml. Differences accepted: 1, not accepted: 1.\n  Tag/gold#8f1c\n    The relation is missing in the account.",
  );
  expect(readFileSync(join(reported.folder, "manifests/a.yaml"), "utf8")).toBe(manifest.replace("false", "true"));
  expect(stderr).toMatch(/\nReview the diff, then commit it\.\n$/u);
  expect(stderr).not.toContain("other targets");
});

test("--resolve accept names the other targets that load the edited manifests", async () => {
  const reported = await story({ "a.yaml": manifest });
  pause(reported, true);
  const { context, printed } = contextIn<DriftFlags>(reported, { ...noFlags, resolve: "accept" });
  const [project, report] = [await reported.load(), await reported.report()];
  const config = join(reported.folder, "dimsync.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("targets:", "targets:\n  staging: {}"));
  await acceptReport(context, project, report);
  const { stderr } = printed();
  const before =
    "manifests/a.yaml also belongs to target staging. Accepting the drift changes there:\n  Integration/orders expect.paused: true\n";
  expect(stderr.startsWith(before), stderr).toBe(true);
  expect(stderr).toContain("These files also belong to other targets. Check their plans before you commit:\n  dimsync plan -t staging\n");
});

test("--resolve accept does not name targets that do not load the edited manifests", async () => {
  const reported = await story({ "a.yaml": manifest });
  pause(reported, true);
  const { context, printed } = contextIn<DriftFlags>(reported, { ...noFlags, resolve: "accept" });
  const [project, report] = [await reported.load(), await reported.report()];
  const config = join(reported.folder, "dimsync.yaml");
  const text = readFileSync(config, "utf8").replace(/^manifests:.*\n/mu, "");
  writeFileSync(
    config,
    text.replace(/targets:\n( +)(\w+): \{/u, "targets:\n$1staging: { manifests: [other] }\n$1$2: { manifests: [manifests],"),
  );
  await acceptReport(context, project, report);
  expect(printed().stderr).not.toContain("staging");
});
