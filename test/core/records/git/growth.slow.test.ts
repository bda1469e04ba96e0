// Records in git stay small.
import { expect, it } from "vitest";
import { git } from "../../../support/git/remote.ts";
import { runs } from "../../../support/sample.ts";
import { intentOf } from "../suite.ts";
import { begun, diskStore, ref } from "./git-store.ts";

/** 1,000 creates with DIMSYNC_TESTS=all, else 504. */
const waves = runs(32, 63);
const creates = 16 * waves - 8;

it("stays small over many creates: a commit for each 16, and git stores what each changes", async () => {
  const { open, remote } = await diskStore();
  const run = await begun(open());
  const [first = ""] = await run.intend([intentOf("Asset/open-from-the-beginning")]);
  for (let wave = 0; wave < waves; wave += 1) {
    const addresses = Array.from({ length: wave < waves - 1 ? 16 : 8 }, (_, index) => `Integration/i${wave * 16 + index}`);
    const ids = await run.intend(addresses.map((address) => intentOf(address)));
    for (const [index, entryId] of ids.entries()) {
      const id = `${wave * 16 + index}`;
      await run.settle(entryId, { outcome: "answered", id });
      await run.bind(addresses[index] ?? "", { id });
      await run.settle(entryId, { outcome: "created", id });
    }
  }
  await run.release();
  // The first commit created the records, the second one stored the intent that stays open.
  expect(Number(git(remote.bare, "rev-list", "--count", ref))).toBe(1 + 1 + waves + 1);
  const state = await open().read();
  expect(state.bindings.size).toBe(creates);
  expect(state.open.map(({ entryId }) => entryId)).toEqual([first]);
  git(remote.bare, "gc", "--quiet");
  const [, kibibytes = ""] = /size-pack: (\d+)/u.exec(git(remote.bare, "count-objects", "-v")) ?? [];
  expect(Number(kibibytes)).toBeLessThan(1_024);
});
