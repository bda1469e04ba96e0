// Of each item only what protects is left, and the rest is held.
import { describe, expect, test } from "vitest";
import type { Deferred, DraftFacts, DraftItem } from "../../../src/core/base/model/plan.ts";
import { emptyDiff } from "../../../src/core/kinds/kind.ts";
import { holdOthers, holdWaiting } from "../../../src/core/plan/protect-only.ts";
import { grouped } from "../../support/changes.ts";
import { heldSteps, waitingSteps } from "../../support/steps.ts";
import { draft, planOf } from "./drafts.ts";

const change = (path: string, after: boolean, risk: DraftFacts["risk"]) => grouped<DraftFacts>([{ path, before: !after, after, risk }]);
const hashes = change("/schemas/s/tables/t/columns/email/hashed", true, "protects");
const enables = change("/schemas/s/tables/t/columns/phone/enabled", true, "exposes");
const patch = (columns: Readonly<Record<string, { readonly enabled: boolean; readonly hashed: boolean }>>) => ({
  method: "PATCH" as const,
  path: "/v1/integrations/i/schemas",
  body: { schemas: { s: { enabled: true, tables: { t: { enabled: true, columns } } } } },
});
const hashing = patch({ email: { enabled: true, hashed: true } });
const enabling = patch({ phone: { enabled: true, hashed: false } });

const update = (more: Partial<DraftItem>): DraftItem => draft("Schemas/i", "update", { liveId: "i", ...more });
const split = (item: DraftItem) => holdOthers({ ...emptyDiff, items: [item] });

describe("with --protect-only", () => {
  test("of an item with both, the requests of the protecting changes are sent", () => {
    const item = update({ changes: [...enables, ...hashes], requests: [hashing, enabling], exposedColumns: 1, binding: { id: "i" } });
    const { items, held } = split(item);
    const { exposedColumns: _, binding: __, ...rest } = item;
    expect(items).toEqual([{ ...rest, changes: hashes, requests: [hashing] }]);
    expect(held).toEqual([{ ...item, changes: enables }]);
  });

  test("what protects does not wait for what the others require", () => {
    const item = update({ changes: [...enables, ...hashes], requests: [hashing, enabling], requires: ["Schemas/j"] });
    expect(split(item).items.map(({ requires }) => requires)).toEqual([undefined]);
  });

  test("an item with both in one request is held", () => {
    const both = patch({ email: { enabled: true, hashed: true }, phone: { enabled: true, hashed: false } });
    const item = update({ changes: [...enables, ...hashes], requests: [both] });
    expect(split(item)).toMatchObject({ items: [], held: [item] });
  });

  test("creates, relations and items without changes are held, and a bind is not", () => {
    const others = [draft("Asset/a", "create"), draft("Tag/t#i", "relate"), draft("Tag/t", "update")];
    expect(holdOthers({ ...emptyDiff, items: others }).held).toEqual(others);
    const bind = draft("Integration/i", "bind", { changes: [{ path: "/id", after: "i", risk: "neutral" }] });
    expect(split(bind)).toMatchObject({ items: [bind], held: [] });
  });

  test("what waits for something held is held, also over several steps; what waits for a schema is not", () => {
    const waits = (address: string, waitsFor: string, liveId?: string): Deferred => ({
      ...{ verb: "update", address, waitsFor: [waitsFor], desired: {} },
      ...(liveId === undefined ? {} : { liveId }),
    });
    const config = waits("Schemas/i", "Integration/i");
    const integration = waits("Integration/i", "Asset/a");
    const discovering = waits("Schemas/j", "Integration/j", "j");
    expect(holdWaiting([config, integration, discovering], new Set(["Asset/a"]))).toEqual({
      deferred: [discovering],
      held: [config, integration],
    });
  });

  test("a plan lists what is held; other plans have nothing that is held", () => {
    const items = [update({ changes: hashes, requests: [hashing] })];
    const found = {
      items,
      held: [draft("Asset/a", "create")],
      deferred: [{ verb: "create", address: "Integration/i", waitsFor: ["Asset/a"], desired: {} } as const],
    };
    const plan = planOf(found, { protectOnly: true });
    expect([heldSteps(plan), waitingSteps(plan), plan.calls.planned]).toMatchObject([
      [
        { address: "Asset/a", verb: "create", changes: [], requests: [] },
        { address: "Integration/i", verb: "create", changes: [], requests: [], waitsFor: ["Asset/a"] },
      ],
      [],
      { PATCH: 1 },
    ]);
    expect(heldSteps(planOf({ items }))).toEqual([]);
  });
});
