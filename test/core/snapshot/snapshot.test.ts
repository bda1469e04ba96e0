import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PlanFlags } from "../../../src/cli/flags.ts";
import { integrations, tags } from "../../../src/core/kinds/lists.ts";
import { readSnapshotFile } from "../../../src/core/snapshot/file.ts";
import { readsOf } from "../../../src/core/snapshot/snapshot.ts";
import { runPlan } from "../../../src/features/plan/command.ts";
import { runSnapshot } from "../../../src/features/snapshot/command.ts";
import type { SnapshotFlags } from "../../../src/features/snapshot/index.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

/** A snapshot as JSON that a test damages. */
interface Draft {
  [member: string]: unknown;
  readonly integrations: (Record<string, unknown> | null)[];
  readonly users: unknown[];
  readonly schemas: Record<string, object>;
}

describe("snapshot", () => {
  const take = (out: string) => project.run<SnapshotFlags>(runSnapshot, { out });

  test("contains the live state, in the same bytes each time except for the time", async () => {
    expect(await take("a.json")).toMatchObject({ code: 0, err: "" });
    await take("b.json.gz");
    const [a, b] = [await readSnapshotFile(join(project.folder, "a.json")), await readSnapshotFile(join(project.folder, "b.json.gz"))];
    expect({ ...a, takenAt: "" }).toEqual({ ...b, takenAt: "" });
    expect((await readFile(join(project.folder, "b.json.gz")))[0]).toBe(0x1f);
    const reads = readsOf(a);
    expect((await reads.list(integrations)).items.map(({ id }) => id)).toEqual(["51a1", "51a2", "8f1c", "b27d"]);
    expect((await reads.schemas("8f1c"))?.tree["public"]?.tables["users"]?.columns?.["password_hash"]).toMatchObject({ enabled: false });
    expect((await reads.one(tags, "t-1"))?.taggedResources?.map(({ id }) => id)).toEqual(["8f1c", "da-7"]);
    expect(await reads.one(integrations, "gone")).toBeUndefined();
    await expect(reads.auditLogs({})).rejects.toThrow("no audit log");
  });

  test("contains no secret: neither the key nor a connection", async () => {
    await take("a.json");
    const text = await readFile(join(project.folder, "a.json"), "utf8");
    expect(text).not.toContain(project.service.apiKey);
    expect(text).not.toContain("db.internal");
  });

  test("if a read fails, no file is written", async () => {
    project.service.addFault("GET /v1/integrations/b27d/schemas=status:403");
    const { code } = await take("a.json");
    expect(code).toBe(1);
    expect(Object.keys(await project.files())).toEqual(["dimsync.yaml"]);
  });

  test.each([
    ["not JSON", "x", "is not JSON"],
    ["another document", "{}", "is not a snapshot"],
    ["a later format", '{"kind":"Snapshot","formatVersion":"2.0","integrations":[],"tags":[],"users":[],"schemas":{}}', "format 2.0"],
  ])("a file that is %s is refused", async (_, text, message) => {
    await writeFile(join(project.folder, "x.json"), text);
    await expect(readSnapshotFile(join(project.folder, "x.json"))).rejects.toThrow(message);
  });

  test.each<readonly [member: string, damage: (snapshot: Draft) => void]>([
    ["/completeness", (snapshot) => void delete snapshot["completeness"]],
    ["/takenAt", (snapshot) => void Object.assign(snapshot, { takenAt: "2026-01-01 (<b>)" })],
    ["/integrations/4", ({ integrations }) => void integrations.push(null)],
    ["/integrations/0/source", ({ integrations }) => void Object.assign(integrations[0] ?? {}, { source: "shop" })],
    ["/users/5/email", ({ users }) => void users.push({ id: "u-9" })],
    ["/schemas/8f1c/public", ({ schemas }) => void Object.assign(schemas["8f1c"] ?? {}, { public: null })],
  ])("a file whose %s is damaged is refused, and the message names the member", async (member, damage) => {
    await take("a.json");
    const file = join(project.folder, "a.json");
    const snapshot = JSON.parse(await readFile(file, "utf8")) as Draft;
    damage(snapshot);
    await writeFile(file, JSON.stringify(snapshot));
    await expect(readSnapshotFile(file)).rejects.toThrow(`${file} is damaged: ${member} is missing or has the wrong type`);
  });

  test("an empty plan names the snapshot, and a snapshot of another account is a warning", async () => {
    await project.importJson();
    await take("a.json");
    const file = join(project.folder, "a.json");
    const plan = () => project.run<PlanFlags>(runPlan, { snapshot: "a.json", quiet: false, failOn: [], allow: [], ignore: [] });
    expect((await plan()).out).toMatch(/No changes\. The snapshot of \S+Z matches the manifests/u);
    expect((await plan()).out).not.toContain("W_SNAPSHOT_OF_ANOTHER");
    const snapshot = JSON.parse(await readFile(file, "utf8")) as Draft;
    await writeFile(file, JSON.stringify({ ...snapshot, target: "staging", account: "https://staging.example.com" }));
    expect((await plan()).out).toContain("W_SNAPSHOT_OF_ANOTHER");
    // The path of the file decides where the sentence is wrapped.
    expect((await plan()).out.replaceAll(/\s+/gu, " ")).toContain("is a snapshot of staging (https://staging.example.com)");
  });
});
