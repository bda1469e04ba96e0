import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import { openGitRecords } from "../../../../src/core/records/git/index.ts";
import type { RecordsRun } from "../../../../src/core/records/records.ts";
import { gitEnv } from "../../../support/git/env.ts";

// One machine of the stress test: repeatedly takes the lease and creates missing objects.
// Prints every result to stdout at once, as a line of JSON.

const [, , folder = "", id = "", service = "", ref = "", ttlMs = ""] = process.argv;
const say = (event: Readonly<Record<string, unknown>>): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

const create = (key: string, runId: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const call = request(`${service}/${key}?run=${runId}`, { method: "POST", agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end();
  });

/** The first keys that are neither bound nor in the journal. All machines choose the same ones. */
function freeKeys(run: RecordsRun, count: number): readonly string[] {
  const { bindings, open, created } = run.state();
  const taken = new Set([...bindings.keys(), ...created.keys(), ...open.map(({ address }) => address)]);
  const free: string[] = [];
  for (let index = 0; free.length < count; index += 1) if (!taken.has(`Asset/k${index}`)) free.push(`Asset/k${index}`);
  return free;
}

async function turn(): Promise<void> {
  const records = openGitRecords({ folder, target: "prod", remote: "origin", ref, id, ttlMs: Number(ttlMs), key: undefined, env: gitEnv });
  const runId = randomUUID();
  const run = await records.begin({ runId, waitMs: 3 * Number(ttlMs) });
  const sent: string[] = [];
  try {
    for (let wave = 0; wave < 2 && !run.lost.aborted; wave += 1) {
      const keys = freeKeys(run, 1 + Math.floor(Math.random() * 3));
      const at = new Date().toISOString();
      const ids = await run.intend(
        keys.map((address) => ({
          ...{ runId, address, kind: "Asset", method: "POST", path: "/v1/assets", bodyDigest: "sha256:0", at },
        })),
      );
      for (const [index, entryId] of ids.entries()) say({ type: "intended", entryId, address: keys[index] });
      await Promise.all(ids.map((entryId, index) => createOne(run, entryId, keys[index] ?? "", sent)));
    }
  } finally {
    await run.release();
    say({ type: "ended", runId, sent });
  }
}

async function createOne(run: RecordsRun, entryId: string, address: string, sent: string[]): Promise<void> {
  try {
    run.fence();
  } catch {
    await run.settle(entryId, { outcome: "not-created" });
    return;
  }
  sent.push(address);
  const liveId = await create(address.slice("Asset/".length), run.runId).catch(() => undefined);
  if (liveId === undefined) return run.settle(entryId, { outcome: "unknown" });
  await run.settle(entryId, { outcome: "answered", id: liveId });
  run.flush();
  await run.bind(address, { id: liveId });
  await run.settle(entryId, { outcome: "created", id: liveId });
  say({ type: "created", address, id: liveId, entryId });
}

for (;;)
  await turn().catch((error: unknown) => {
    if (!(error instanceof DimsyncError)) throw error;
    say({ type: "failed", code: error.code });
  });
