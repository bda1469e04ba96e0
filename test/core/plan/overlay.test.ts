// Of each item only what protects is left, and the rest is held.
import { describe, expect, test } from "vitest";
import { waitingStep } from "../../../src/core/base/model/draft-steps.ts";
import { defined } from "../../../src/core/base/model/json/json.ts";
import type { DraftFacts, DraftItem, DraftStep } from "../../../src/core/base/model/plan.ts";
import { emptyDiff } from "../../../src/core/kinds/kind.ts";
import { holdOthers, holdWaiting } from "../../../src/core/plan/overlay.ts";
import { grouped } from "../../support/changes.ts";
import { heldSteps, inLists, waitingSteps } from "../../support/steps.ts";
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
const split = (...steps: readonly DraftItem[]) => inLists(holdOthers({ ...emptyDiff, steps }));
const heldOf = (item: DraftItem): DraftStep => ({ ...item, standing: "held" });

describe("with --protect-only", () => {
  test("of an item with both, the requests of the protecting changes are sent", () => {
    const item = update({ changes: [...enables, ...hashes], requests: [hashing, enabling], exposedColumns: 1, binding: { id: "i" } });
    const { items, held } = split(item);
    const { exposedColumns: _, binding: __, ...rest } = item;
    expect(items).toEqual([{ ...rest, changes: hashes, requests: [hashing] }]);
    expect(held).toEqual([heldOf({ ...item, changes: enables })]);
  });

  test("what protects does not wait for what the others require", () => {
    const item = update({ changes: [...enables, ...hashes], requests: [hashing, enabling], requires: ["Schemas/j"] });
    expect(split(item).items.map(({ requires }) => requires)).toEqual([undefined]);
  });

  test("an item with both in one request is held", () => {
    const both = patch({ email: { enabled: true, hashed: true }, phone: { enabled: true, hashed: false } });
    const item = update({ changes: [...enables, ...hashes], requests: [both] });
    expect(split(item)).toMatchObject({ items: [], held: [heldOf(item)] });
  });

  test("creates, relations and items without changes are held, and a bind is not", () => {
    const others = [draft("Asset/a", "create"), draft("Tag/t#i", "relate"), draft("Tag/t", "update")];
    expect(split(...others).held).toEqual(others.map(heldOf));
    const bind = draft("Integration/i", "bind", { changes: [{ path: "/id", after: "i", risk: "neutral" }] });
    expect(split(bind)).toMatchObject({ items: [bind], held: [] });
  });

  test("what waits for something held is held, also over several steps; what waits for a schema is not", () => {
    const waits = (address: string, waitsFor: string, liveId?: string) =>
      waitingStep({ ...{ verb: "update", address, waitsFor: [waitsFor], desired: {} }, ...defined({ liveId }) });
    const steps = [waits("Schemas/i", "Integration/i"), waits("Integration/i", "Asset/a"), waits("Schemas/j", "Integration/j", "j")];
    const held = heldOf(draft("Asset/a", "create"));
    expect(holdWaiting([held, ...steps]).map(({ address, standing }) => `${standing} ${address}`)).toEqual([
      ...["held Asset/a", "held Schemas/i", "held Integration/i"],
      "waits Schemas/j",
    ]);
  });

  test("a plan lists what is held; other plans have nothing that is held", () => {
    const items = [update({ changes: hashes, requests: [hashing] })];
    const found = {
      items,
      held: [heldOf(draft("Asset/a", "create"))],
      waiting: [{ verb: "create", address: "Integration/i", waitsFor: ["Asset/a"], desired: {} } as const],
    };
    const plan = planOf(found);
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
