// An event is credited with a difference only as far as it fits.
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/core/base/model/live.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { attribute as attributeInSteps, withoutAttribution } from "../../../src/core/drift/attribution.ts";
import { byHandSteps, readySteps, stepsFrom } from "../../support/steps.ts";
import { change, item, plan } from "../render/plans.ts";

const attribute = (...input: Parameters<typeof attributeInSteps>): Plan => attributeInSteps(...input);

let count = 0;
/** An entry `hour` hours after midnight. */
function entry(hour: number, event: string, actor: string | undefined = "dana@example.com", userAgent = "Mozilla/5.0"): AuditEntry {
  const timestamp = `2026-03-01T${String(hour).padStart(2, "0")}:00:00.000Z`;
  return { id: `e-${count++}`, timestamp, event, actor: { type: "user", email: actor }, context: { ipAddress: "203.0.113.7", userAgent } };
}

const column = "/schemas/public/tables/users/columns/email/hashed";
const report = (members: Parameters<typeof plan>[0] = {}): Plan =>
  plan({
    kind: "DriftReport",
    items: [item({ address: "Schemas/orders", liveId: "8f1c", liveName: "Orders", changes: [change({ path: column })] })],
    ...members,
  });
const paused = (id = "orders"): Plan =>
  plan({
    kind: "DriftReport",
    steps: stepsFrom({
      byHand: [{ id: "m-1", address: `Integration/${id}`, path: "/paused", expected: false, actual: true, instruction: "Resume it." }],
    }),
  });

const found = (made: Plan) =>
  readySteps(made)[0]?.changes[0]?.attribution ?? readySteps(made)[0]?.attribution ?? byHandSteps(made)[0]?.attribution;

describe("the best event for a difference of a column", () => {
  test.each<[what: string, entries: readonly AuditEntry[], event: string | undefined, confidence?: string]>([
    [
      "the id in the text is about the object",
      [entry(1, "Schema configuration of integration 8f1c changed")],
      "Schema configuration of integration 8f1c changed",
      "likely",
    ],
    [
      "the id, the table and the column are exact",
      [entry(1, "8f1c: column users.email unhashed")],
      "8f1c: column users.email unhashed",
      "exact",
    ],
    [
      "a column of another table with the same name is not",
      [entry(1, "8f1c: column orders.email unhashed")],
      "8f1c: column orders.email unhashed",
      "likely",
    ],
    ["nor if the object is only a word", [entry(1, "orders: users.email unhashed")], "orders: users.email unhashed", "likely"],
    ["the name in quotes is about the object", [entry(1, "Schema of 'Orders' edited")], "Schema of 'Orders' edited", "likely"],
    ["the name as a word is likely", [entry(1, "schema of orders edited")], "schema of orders edited", "likely"],
    ["a part of a word does not count", [entry(1, "schema of reorders edited"), entry(2, "schema of orders-eu edited")], undefined],
    [
      "of equally good events, the newest",
      [entry(1, "8f1c schema changed early"), entry(3, "8f1c schema changed late"), entry(2, "8f1c schema changed between")],
      "8f1c schema changed late",
    ],
    [
      "the column's name beats a newer event",
      [entry(1, "8f1c: column email unhashed"), entry(3, "8f1c: column phone unhashed")],
      "8f1c: column email unhashed",
    ],
    [
      "the id beats a newer event with the name as a word",
      [entry(1, "8f1c schema changed"), entry(3, "orders schema changed")],
      "8f1c schema changed",
      "likely",
    ],
    [
      "the same topic beats a newer event without a topic",
      [entry(1, "8f1c schema changed"), entry(3, "8f1c updated")],
      "8f1c schema changed",
    ],
    [
      "an event about another topic never counts",
      [entry(1, "Integration 8f1c paused"), entry(2, "Tag t-1 attached to Integration 8f1c"), entry(3, "8f1c viewed")],
      undefined,
    ],
    ["words in a quoted name are not a topic", [entry(1, '8f1c "paused orders" changed')], '8f1c "paused orders" changed', "likely"],
    [
      "the only write without another explanation",
      [entry(1, "Account changed"), entry(2, 'Tag t-9 "temp" updated')],
      "Account changed",
      "window",
    ],
    ["two such writes: none", [entry(1, "Account changed"), entry(2, "Settings changed")], undefined],
    [
      "a dimsync run is not such a write",
      [entry(1, "Account changed"), entry(2, "Something updated", "bot@example.com", "dimsync/0.1.0 (run/7c)")],
      "Account changed",
      "window",
    ],
    ["no events: none", [], undefined],
  ])("%s", (_, entries, event, confidence) => {
    const attribution = found(
      attribute(report({ unmanaged: { integrations: [], tags: [{ id: "t-9", name: "temp" }], columns: 0 } }), entries),
    );
    expect(attribution?.event).toBe(event);
    if (confidence !== undefined) expect(attribution?.confidence).toBe(confidence);
  });

  test("an attribution has actor, time, address, user agent, event and confidence", () => {
    expect(found(attribute(report(), [entry(9, "8f1c schema changed")]))).toEqual({
      actor: "dana@example.com",
      at: "2026-03-01T09:00:00.000Z",
      userAgent: "Mozilla/5.0",
      ip: "203.0.113.7",
      event: "8f1c schema changed",
      confidence: "likely",
      own: false,
    });
  });

  test.each([
    ["dimsync/0.1.0 (run/7c1e)", true],
    ["dimsync/0.1.0", false],
    ["evil dimsync/0.1.0 (run/7c1e)", false],
  ])("user agent %s: own run %s", (userAgent, own) => {
    expect(found(attribute(report(), [entry(9, "8f1c schema changed", "bot@example.com", userAgent)]))?.own).toBe(own);
  });

  test("an event with the id of another object of the same name is not about this one", () => {
    const [own, other] = ["650000000000000000000001", "650000000000000000000002"];
    const of = (id: string) => [entry(1, `Un-hashed column email of table users of integration "Orders" (${id})`)];
    const items = [item({ address: "Schemas/orders", liveId: own, liveName: "Orders", changes: [change({ path: column })] })];
    expect([own, other].map((id) => found(attribute(report({ items }), of(id)))?.confidence)).toEqual(["exact", undefined]);
  });

  test("a change of the manifests has no attribution", () => {
    const made = attribute(report({ items: [item({ changes: [change({ path: column, origin: "config" })] })] }), [
      entry(1, "8f1c schema changed"),
    ]);
    expect(found(made)).toBeUndefined();
  });
});

describe("other differences", () => {
  test("a pause is found by the bound id", () => {
    const entries = [
      entry(1, 'Integration 8f1c "Main" paused', "sam@example.com"),
      entry(2, 'Schema configuration of integration 8f1c "Main" changed'),
    ];
    expect(found(attribute(paused(), entries, { idByAddress: new Map([["Integration/orders", "8f1c"]]) }))?.actor).toBe("sam@example.com");
  });

  test("an id from another item of the report is used too", () => {
    const made = attribute({ ...report(), steps: [...report().steps, ...paused().steps] }, [entry(1, "Integration 8f1c paused")]);
    expect(byHandSteps(made)[0]?.attribution?.confidence).toBe("exact");
    expect(readySteps(made)[0]?.changes[0]?.attribution).toBeUndefined();
  });

  test("an object that is gone is explained by a deletion, not by an update", () => {
    const gone = plan({ steps: stepsFrom({ byHand: [{ id: "m-1", address: "Integration/orders", path: "", instruction: "Gone." }] }) });
    const known = { idByAddress: new Map([["Integration/orders", "8f1c"]]) };
    expect(found(attribute(gone, [entry(1, "Integration 8f1c updated")], known))).toBeUndefined();
    expect(found(attribute(gone, [entry(1, "Integration 8f1c deleted")], known))?.event).toBe("Integration 8f1c deleted");
  });

  test.each<["relate" | "unrelate", string]>([
    ["relate", 'Tag t-1 "PII" detached from Integration 8f1c'],
    ["unrelate", 'Tag t-1 "PII" attached to Integration 8f1c'],
  ])("a relation to be repaired with %s is explained by the opposite: %s", (verb, event) => {
    const report = plan({
      items: [
        item({
          address: "Tag/pii#8f1c",
          verb,
          liveId: "t-1",
          liveName: "PII",
          changes: [change({ path: "/taggedResources/8f1c", risk: "neutral" })],
        }),
      ],
    });
    const entries = [
      entry(1, 'Tag t-1 "PII" detached from Integration 8f1c'),
      entry(2, 'Tag t-1 "PII" detached from Integration b27d'),
      entry(3, 'Tag t-1 "PII" attached to Integration 8f1c'),
    ];
    expect(found(attribute(report, entries))?.event).toBe(event);
  });

  test("creates and changed manifests have no attribution", () => {
    const made = attribute(
      plan({
        items: [item({ verb: "create", address: "Integration/orders", changes: [change({ path: "/enabled" })] })],
        steps: stepsFrom({
          byHand: [{ id: "m-1", address: "Integration/orders", path: "/spec/create/enabled", expected: true, instruction: "x" }],
        }),
      }),
      [entry(1, "Integration 8f1c orders updated")],
    );
    expect(found(made)).toBeUndefined();
  });

  test.each([
    ["dimsync/1.0.0 (run/7c1e)", true],
    ["Mozilla/5.0 dimsync/1.0.0 (run/7c1e)", false],
  ])("an event by %s is of dimsync itself: %s", (userAgent, own) => {
    expect(found(attribute(report(), [entry(1, "8f1c schema changed", "bot@example.com", userAgent)]))).toMatchObject({ userAgent, own });
  });

  test("short numbers and unusual names do not match by accident", () => {
    for (const id of ["1", "12", "2026", "a.b", "__proto__", "constructor", "(", "*", ""])
      expect(
        found(
          attribute(paused(), [entry(1, "12 columns and 1 table paused in 2026")], { idByAddress: new Map([["Integration/orders", id]]) }),
        )?.confidence,
      ).not.toBe("exact");
    expect(found(attribute(paused("a.b"), [entry(1, "Integration a.b paused")]))?.confidence).toBe("likely");
    expect(found(attribute(paused("a.b"), [entry(1, "Integration axb paused"), entry(2, "x")]))?.confidence).not.toBe("likely");
  });
});

test("ten thousand differences and ten thousand entries are attributed", () => {
  const items = Array.from({ length: 2_000 }, (_, number) =>
    item({
      id: `i${number}`,
      address: `Schemas/o${number}`,
      liveId: `id-${number}`,
      liveName: `o${number}`,
      changes: Array.from({ length: 5 }, (_each, index) => change({ path: `/schemas/p/tables/t/columns/c${index}/hashed` })),
    }),
  );
  const entries = Array.from({ length: 10_000 }, (_, index) =>
    entry(index % 24, `Schema configuration of integration id-${index % 2_000} changed`),
  );
  const made = attribute(plan({ items }), entries);
  expect(readySteps(made).filter(({ attribution }) => attribution?.confidence === "likely")).toHaveLength(2_000);
});

test("without the audit log, the report has a note and is otherwise the same", () => {
  const { findings, ...rest } = withoutAttribution(report(), "The key may not read it.");
  const { findings: _, ...before } = report();
  expect(rest).toEqual(before);
  expect(findings).toEqual([
    expect.objectContaining({ rule: "I_NO_ATTRIBUTION", severity: "info", message: expect.stringContaining("The key may not read it.") }),
  ]);
});
