// A tag and its relations are what its manifest says, and foreign relations stay unless it is exclusive.
import { describe, expect, test } from "vitest";
import type { Manifest, TagSpec } from "../../../../src/core/base/model/manifest.ts";
import { kindNamed } from "../../../../src/core/kinds/index.ts";
import { integrations, type LiveTag, tags, users } from "../../../../src/core/kinds/lists.ts";
import {
  accountViewOf,
  foundIn,
  liveIntegration,
  liveTag,
  requestsOf,
  resourceOf,
  type SmallAccount,
  user,
} from "../../../support/accounts/view.ts";

const known: SmallAccount = { bindings: new Map([["Tag/pii", { id: "t-1" }]]) };
const pii = (spec: Partial<TagSpec>, more: Partial<Manifest> = {}): Manifest => resourceOf("Tag", "pii", { name: "PII", ...spec }, more);
const withTag = (tag: Partial<LiveTag>): SmallAccount => ({ ...known, tags: [liveTag("t-1", "PII", tag)] });
const put = "PUT /v1/tags/t-1";

describe("for a tag's fields, plan sends", () => {
  const rows: readonly [sentence: string, spec: Partial<TagSpec>, live: Partial<LiveTag>, body: object | undefined][] = [
    ["nothing, if the manifest only declares the name", {}, {}, undefined],
    ["all three, if one changed", { description: "New" }, {}, { name: "PII", description: "New", owner: "u-1" }],
    ["an empty description", { description: "" }, {}, { name: "PII", description: "", owner: "u-1" }],
    ["the new name with the other live fields", { name: "P" }, {}, { name: "P", description: "as it is", owner: "u-1" }],
    ["no field that neither side has", { description: "New" }, { owner: undefined }, { name: "PII", description: "New" }],
    ["an owner as the user's id", { owner: { user: "bot@example.com" } }, {}, { name: "PII", description: "as it is", owner: "u-2" }],
    [
      "an owner as e-mail address, on request",
      { owner: { user: "bot@example.com", as: "email" } },
      {},
      { name: "PII", description: "as it is", owner: "bot@example.com" },
    ],
    [
      "an owner as name, on request",
      { owner: { user: "bot@example.com", as: "name" } },
      {},
      { name: "PII", description: "as it is", owner: "Automation" },
    ],
    ["an owner in plain text, unchanged", { owner: "Team X" }, {}, { name: "PII", description: "as it is", owner: "Team X" }],
    ["nothing, if the live owner is the user's id", { owner: { user: "dana@example.com" } }, {}, undefined],
    [
      "nothing, if it is the user's e-mail address in another case",
      { owner: { user: "dana@example.com" } },
      { owner: "Dana@Example.com" },
      undefined,
    ],
    ["nothing, if it is the user's name", { owner: { user: "dana@example.com", as: "email" } }, { owner: "Dana" }, undefined],
    [
      "the live form of an unchanged owner, with another change",
      { owner: { user: "dana@example.com" }, description: "New" },
      { owner: "Dana" },
      { name: "PII", description: "New", owner: "Dana" },
    ],
  ];
  test.each(rows)("%s", (_, spec, live, body) => {
    const found = foundIn(accountViewOf([pii(spec)], withTag(live)), "Tag");
    expect(requestsOf(found)).toEqual(body === undefined ? [] : [[put, body]]);
    expect(found.problems).toEqual([]);
  });

  test("an ignored field repeats the live value", () => {
    const view = accountViewOf([pii({ description: "New", owner: "u-2" })], {
      ...withTag({}),
      ignored: (_, path) => path === "/description",
    });
    expect(requestsOf(foundIn(view, "Tag"))).toEqual([[put, { name: "PII", description: "as it is", owner: "u-2" }]]);
  });

  test("an ignored field that the service does not show is not sent", () => {
    const view = accountViewOf([pii({ description: "New", owner: "u-2" })], {
      ...withTag({ description: undefined }),
      ignored: (_, path) => path === "/description",
    });
    expect(requestsOf(foundIn(view, "Tag"))).toEqual([[put, { name: "PII", owner: "u-2" }]]);
  });
});

test.each<[string, object, Partial<LiveTag>]>([
  ["an object with an id", { owner: { _id: "u-1", email: "dana@example.com" } }, { owner: "u-1" }],
  ["an object with an e-mail address", { owner: { email: "dana@example.com" } }, { owner: "dana@example.com" }],
  ["null", { owner: null }, { owner: undefined }],
  ["ids", { taggedResources: ["8f1c"] }, { taggedResources: [{ id: "8f1c" }] }],
  [
    "objects with other names of the id",
    { taggedResources: [{ _id: "a" }, { resourceId: "b" }] },
    { taggedResources: [{ id: "a" }, { id: "b" }] },
  ],
])("what the service shows of a tag as %s is read", (_, shown, expected) => {
  expect(
    tags.decode({
      where: { method: "GET", path: "/v1/tags/t-1", sent: "answered" },
      above: "",
      value: { id: "t-1", name: "PII", ...shown },
    }),
  ).toMatchObject(expected);
});

describe("plan creates relations:", () => {
  const manifests = [
    resourceOf("Integration", "orders", { match: { name: "Orders" } }, { labels: { domain: "sales" } }),
    resourceOf("Asset", "warehouse", { name: "Warehouse" }, { id: "d-12" }),
    resourceOf("Asset", "lake", { name: "Lake", type: "s3" }, { lifecycle: { create: "ifMissing" } }),
    resourceOf("Asset", "lost", { name: "Lost", type: "s3" }),
  ];
  const rows: readonly [
    sentence: string,
    resources: TagSpec["resources"],
    related: readonly string[],
    made: readonly [string, string][],
  ][] = [
    ["one for an integration by its manifest's name", [{ integration: "orders" }], [], [["8f1c", "Integration"]]],
    ["one for an integration by its live name", [{ integration: "Billing" }], [], [["b27d", "Integration"]]],
    ["one for an integration by its id, without a read", [{ integration: { id: "zz" } }], [], [["zz", "Integration"]]],
    [
      "one for each integration that names select",
      [{ integrations: { names: ["*"] } }],
      [],
      [
        ["8f1c", "Integration"],
        ["b27d", "Integration"],
      ],
    ],
    ["one for each manifest that labels select", [{ integrations: { labels: { domain: "sales" } } }], [], [["8f1c", "Integration"]]],
    [
      "those that match names and labels",
      [{ integrations: { names: ["order?"], labels: { domain: "sales" } } }],
      [],
      [["8f1c", "Integration"]],
    ],
    ["none for one whose live name is excluded", [{ integrations: { names: ["*", "!Orders"] } }], [], [["b27d", "Integration"]]],
    ["none for one whose manifest's name is excluded", [{ integrations: { names: ["*", "!orders"] } }], [], [["b27d", "Integration"]]],
    ["none if labels select it but a name is excluded", [{ integrations: { names: ["!Orders"], labels: { domain: "sales" } } }], [], []],
    ["one for an asset, as data asset", [{ asset: "warehouse" }], [], [["d-12", "DataAsset"]]],
    [
      "one for a data asset and a monitor by id",
      [{ dataAsset: { id: "da" } }, { monitor: { id: "mo" } }],
      [],
      [
        ["da", "DataAsset"],
        ["mo", "Monitor"],
      ],
    ],
    [
      "only one, if a resource is listed twice",
      [{ integration: "orders" }, { integration: { id: "8f1c" } }],
      [],
      [["8f1c", "Integration"]],
    ],
    ["none that exists", [{ integration: "orders" }, { integration: "Billing" }], ["8f1c"], [["b27d", "Integration"]]],
  ];
  test.each(rows)("%s", (_, resources, related, made) => {
    const spec = { ...(resources === undefined ? {} : { resources }), taggedBy: { user: "bot@example.com" } };
    const view = accountViewOf([pii(spec), ...manifests], withTag({ taggedResources: related.map((id) => ({ id })) }));
    expect(requestsOf(foundIn(view, "Tag"))).toEqual(
      made.map(([resourceId, resourceType]) => ["POST /v1/tags/t-1/relation", { resourceId, resourceType, taggedBy: "u-2" }]),
    );
  });

  test("one that waits for its resource waits, one whose resource is blocked is blocked", () => {
    const spec = { resources: [{ asset: "lake" }, { asset: "lost" }], taggedBy: "u-2" };
    const found = foundIn(accountViewOf([pii(spec), ...manifests], withTag({})), "Tag");
    expect(found.items).toEqual([]);
    expect(found.waiting).toMatchObject([{ address: "Tag/pii#Asset/lake", waitsFor: ["Asset/lake"] }]);
    expect(found.blocked).toMatchObject([{ address: "Tag/pii#Asset/lost", code: "E_DEPENDENCY" }]);
  });

  test("extra ones are by hand if the tag is exclusive, and otherwise ignored", () => {
    const byHand = (exclusive: boolean) =>
      foundIn(
        accountViewOf(
          [pii({ resources: [{ integration: "Billing" }], exclusive })],
          withTag({ taggedResources: [{ id: "b27d" }, { id: "x" }] }),
        ),
        "Tag",
      ).byHand;
    expect(byHand(true)).toMatchObject([{ address: "Tag/pii#x", path: "" }]);
    expect(byHand(false)).toEqual([]);
  });
});

describe("an exclusive tag loses what no manifest declares,", () => {
  const extended = { missing: new Set<never>() };
  const remove = (spec: Partial<TagSpec>, ids: readonly string[], view: SmallAccount = {}, others: readonly Manifest[] = []) =>
    foundIn(
      accountViewOf([pii({ exclusive: true, ...spec }), ...others], {
        ...withTag({ taggedResources: ids.map((id) => ({ id })) }),
        extended,
        ...view,
      }),
      "Tag",
    );
  const detached = (id: string, resourceType: string) => ["DELETE /v1/tags/t-1/relation", { resourceId: id, resourceType }];
  const monitor = resourceOf("Tag", "other", { name: "PII2", resources: [{ monitor: { id: "m-1" } }, { dataAsset: { id: "da-1" } }] });

  test.each<[sentence: string, ids: readonly string[], view: SmallAccount, type: string | undefined]>([
    ["whose type the list of integrations shows", ["8f1c"], {}, "Integration"],
    ["which an integration shows as its destination", ["d-12"], {}, "DataAsset"],
    ["which the records have", ["a-1"], { bindings: new Map([...(known.bindings ?? []), ["Asset/lake", { id: "a-1" }]]) }, "DataAsset"],
    ["which another manifest lists as a monitor", ["m-1"], {}, "Monitor"],
    ["but not if nothing shows its type", ["x"], {}, undefined],
    [
      "but not if its id is that of several types",
      ["8f1c"],
      { bindings: new Map([...(known.bindings ?? []), ["Asset/lake", { id: "8f1c" }]]) },
      undefined,
    ],
    ["but not if the switch is off", ["8f1c"], { extended: undefined }, undefined],
    [
      "but not if the service lacks the request",
      ["8f1c"],
      { extended: { missing: new Set(["DELETE /v1/tags/{id}/relation"] as const) } },
      undefined,
    ],
  ])("%s", (_, ids, view, type) => {
    const { items, byHand } = remove({}, ids, view, [monitor]);
    const removed = items.filter(({ verb }) => verb === "unrelate");
    expect(removed.flatMap(({ requests }) => requests.map(({ method, path, body }) => [`${method} ${path}`, body]))).toEqual(
      type === undefined ? [] : ids.map((id) => detached(id, type)),
    );
    expect(removed.flatMap(({ changes }) => changes.map(({ risk }) => risk))).toEqual(type === undefined ? [] : ["exposes"]);
    expect(byHand.map(({ address }) => address)).toEqual(type === undefined ? ids.map((id) => `Tag/pii#${id}`) : []);
  });

  test("but not what a selector covered and the account has no longer", () => {
    const spec = { resources: [{ integrations: { names: ["Ord*"] } }] };
    const { byHand } = remove(spec, ["gone"], { covered: new Map([["Tag/pii", new Map([["gone", "Orders"]])]]) });
    expect(byHand).toEqual([]);
  });

  test("but not if an entry of the manifest is blocked, which may be it", () => {
    const lost = resourceOf("Asset", "lost", { name: "Lost", type: "s3" });
    const { items, blocked } = remove({ resources: [{ asset: "lost" }] }, ["8f1c"], {}, [lost]);
    expect(items.filter(({ verb }) => verb === "unrelate")).toEqual([]);
    expect(blocked).toMatchObject([{ address: "Tag/pii#Asset/lost" }, { address: "Tag/pii#8f1c", code: "E_DEPENDENCY" }]);
  });
});

describe("who tags", () => {
  const rows: readonly [
    sentence: string,
    spec: Partial<TagSpec>,
    fallback: string | undefined,
    taggedBy: string | undefined,
    code: string | undefined,
  ][] = [
    ["the manifest's user, not the default", { taggedBy: { user: "bot@example.com" } }, "dana@example.com", "u-2", undefined],
    ["the manifest's plain id, unchanged", { taggedBy: "u-9" }, undefined, "u-9", undefined],
    ["plain text in the form of an e-mail, as that user's id", { taggedBy: "bot@example.com" }, undefined, "u-2", undefined],
    ["the default, by its e-mail", {}, "dana@example.com", "u-1", undefined],
    ["the default, by its id", {}, "u-1", "u-1", undefined],
    ["an unknown user, which is an error", { taggedBy: { user: "nobody@example.com" } }, undefined, undefined, "E_UNKNOWN_REFERENCE"],
  ];
  test.each(rows)("%s", (_, spec, fallback, taggedBy, code) => {
    const found = foundIn(
      accountViewOf([pii({ resources: [{ integration: "Orders" }], ...spec })], { ...withTag({}), taggedBy: fallback }),
      "Tag",
    );
    expect(requestsOf(found).map(([, body]) => body)).toEqual(
      taggedBy === undefined ? [] : [{ resourceId: "8f1c", resourceType: "Integration", taggedBy }],
    );
    expect(found.problems.map((problem) => problem.code)).toEqual(code === undefined ? [] : [code]);
  });

  test("none: only the relations are blocked, each separately", () => {
    const manifest = pii({ description: "new", resources: [{ integration: "Orders" }, { monitor: { id: "m-1" } }] });
    const found = foundIn(accountViewOf([manifest], withTag({})), "Tag");
    expect(found.blocked.map(({ address, code }) => `${address} ${code}`)).toEqual([
      "Tag/pii#8f1c E_MISSING_KEY",
      "Tag/pii#m-1 E_MISSING_KEY",
    ]);
    expect(found.problems).toEqual([]);
    expect(requestsOf(found).map(([call]) => call)).toEqual(["PUT /v1/tags/t-1"]);
  });

  test("is not needed in a drift report, which shows the missing relation", () => {
    const manifest = pii({ taggedBy: { user: "nobody@example.com" }, resources: [{ integration: "Orders" }] });
    const found = foundIn(accountViewOf([manifest], { ...withTag({}), isDrift: true }), "Tag");
    expect(found.problems).toEqual([]);
    expect(requestsOf(found)).toEqual([["POST /v1/tags/t-1/relation", { resourceId: "8f1c", resourceType: "Integration" }]]);
    expect(kindNamed("Tag")?.lists(manifest, { taggedBy: undefined, isDrift: true })).toEqual([tags, integrations]);
  });
});

describe("an owner that is the e-mail address of a user", () => {
  const warnings = (owner: TagSpec["owner"]) =>
    foundIn(accountViewOf([pii(owner === undefined ? {} : { owner })], withTag({ owner: "dana@example.com" })), "Tag").problems;

  test("is a warning if it is a plain string", () => {
    expect(warnings("dana@example.com")).toMatchObject([
      { code: "W_PLAIN_EMAIL", severity: "warning", message: expect.stringContaining("{ user: dana@example.com }") },
    ]);
    expect(kindNamed("Tag")?.lists(pii({ owner: "dana@example.com" }), { taggedBy: undefined, isDrift: false })).toContain(users);
  });

  test.each([{ user: "dana@example.com" }, "unknown@example.com", "data-platform", undefined])("is not a warning for %j", (owner) => {
    expect(warnings(owner)).toEqual([]);
  });
});

describe("a manifest is identified with", () => {
  const twins = [liveTag("t-2", "PII"), liveTag("t-1", "PII")];
  const rows: readonly [sentence: string, manifest: Manifest, view: SmallAccount, identity: object][] = [
    ["the only tag with that name", pii({}), {}, { state: "found", id: "t-1", by: "look-up" }],
    ["the bound one, whatever its name", pii({ name: "Other" }), known, { state: "found", id: "t-1", by: "binding" }],
    ["the pinned one of several", pii({}, { id: "t-2" }), { tags: twins }, { state: "found", id: "t-2" }],
    [
      "none of several with that name",
      pii({}),
      { tags: twins },
      { state: "blocked", code: "E_AMBIGUOUS", message: expect.stringMatching(/t-1 \("PII".*, t-2/u) },
    ],
    ["none with that name in another case", pii({ name: "pii" }), {}, { state: "blocked", code: "E_TAG_MISSING" }],
    ["none, if it is gone", pii({}), { ...known, goneIds: new Set(["t-1"]) }, { state: "gone", id: "t-1" }],
  ];
  test.each(rows)("%s", (_, manifest, view, identity) => {
    expect(accountViewOf([manifest], view).identities.get("Tag/pii")).toMatchObject(identity);
  });
});

describe("an e-mail address that several users have", () => {
  const dana = { user: "dana@example.com" };
  const people = [user("u-9", "Dana@example.com", "Dana"), user("u-8", "dana@example.com", "Dana, who has left")];
  const found = (spec: Partial<TagSpec>, live: Parameters<typeof withTag>[0], order = people) =>
    foundIn(accountViewOf([pii({ taggedBy: "u-1", ...spec })], { ...withTag(live), users: order }), "Tag");

  test.each<[string, Partial<TagSpec>, string]>([
    ["as the owner", { owner: dana }, "/spec/owner"],
    ["as the owner who is written as an e-mail address", { owner: { ...dana, as: "email" } }, "/spec/owner"],
    ["as the user who tags", { resources: [{ integration: "Orders" }], taggedBy: dana }, "/spec/taggedBy"],
    ["as the user who tags, as plain text", { resources: [{ integration: "Orders" }], taggedBy: dana.user }, "/spec/taggedBy"],
  ])("is an error %s, with all of them, whatever their order", (_, spec, pointer) => {
    for (const order of [people, people.toReversed()]) {
      const { items, problems } = found(spec, {}, order);
      expect(items.filter(({ verb }) => verb !== "bind")).toEqual([]);
      expect(problems).toMatchObject([
        { code: "E_AMBIGUOUS", place: { pointer }, message: expect.stringMatching(/u-8 \("Dana, who.*u-9 \(/u) },
      ]);
    }
  });

  test("is equal if the tag has one of them", () => {
    for (const { id } of people) expect(found({ owner: dana }, { owner: id })).toMatchObject({ problems: [], items: [] });
  });
});

describe("a name that no tag has", () => {
  test.each<[string, string]>([
    ["pii", "Did you mean PII (t-1)? If not, create it"],
    ["PII ", 'Did you mean "PII" (t-1)? That name differs in white space'],
    ["Secret", 'The account has no tag named "Secret". Create it'],
  ])("%j", (name, text) => {
    const identity = accountViewOf([pii({ name })]).identities.get("Tag/pii");
    expect(identity).toMatchObject({ state: "blocked", code: "E_TAG_MISSING", message: expect.stringContaining(text) });
  });
});

describe("with lifecycle.create: ifMissing", () => {
  const extended = { missing: new Set<never>() };
  const manifest = (spec: Partial<TagSpec>) => pii({ owner: "u-1", ...spec }, { lifecycle: { create: "ifMissing" } });
  const found = (spec: Partial<TagSpec>, view: SmallAccount = {}) => foundIn(accountViewOf([manifest(spec)], { extended, ...view }), "Tag");

  test.each<[sentence: string, spec: Partial<TagSpec>, view: SmallAccount, body: object]>([
    ["a tag that is missing is created", { name: "Secret" }, {}, { name: "Secret", owner: "u-1" }],
    [
      "with its description, and its owner as the user's id",
      { name: "Secret", description: "S", owner: { user: "bot@example.com", as: "email" } },
      {},
      { name: "Secret", owner: "u-2", description: "S" },
    ],
    ["a name that is only similar does not prevent it", { name: "PII2" }, {}, { name: "PII2", owner: "u-1" }],
  ])("%s", (_, spec, view, body) => {
    expect(requestsOf(found(spec, view))).toEqual([["POST /v1/tags", body]]);
  });

  test.each<[sentence: string, spec: Partial<TagSpec>, view: SmallAccount, code: string, text: string]>([
    ["in another case", { name: "pii" }, {}, "E_TAG_MISSING", "No second tag is created"],
    ["with white space", { name: "PII " }, {}, "E_TAG_MISSING", "No second tag is created"],
    ["with a character that cannot be seen", { name: "P\u200bII" }, {}, "E_TAG_MISSING", "No second tag is created"],
    ["in full width", { name: "ＰＩＩ" }, {}, "E_TAG_MISSING", "No second tag is created"],
    ["with ß", { name: "STRASSE" }, { tags: [liveTag("t-1", "straße")] }, "E_TAG_MISSING", "No second tag is created"],
    ["decomposed", { name: "e\u0301" }, { tags: [liveTag("t-1", "É")] }, "E_TAG_MISSING", "No second tag is created"],
    ["twice", {}, { tags: [liveTag("t-1", "PII"), liveTag("t-2", "PII")] }, "E_AMBIGUOUS", "Pin the right one"],
    ["nowhere, and the switch is off", { name: "X" }, { extended: undefined }, "E_TAG_MISSING", "service: { extended: true }"],
    [
      "nowhere, and the service does not have the request",
      { name: "X" },
      { extended: { missing: new Set(["POST /v1/tags"] as const) } },
      "E_TAG_MISSING",
      "the service has no POST /v1/tags",
    ],
  ])("nothing is created if the account has the name %s", (_, spec, view, code, text) => {
    expect(found(spec, view)).toMatchObject({ items: [], blocked: [{ code, message: expect.stringContaining(text) }] });
  });

  test("an owner who is not a user is an error, and so is none", () => {
    expect(found({ name: "X", owner: { user: "nobody@example.com" } })).toMatchObject({
      items: [],
      problems: [{ code: "E_UNKNOWN_REFERENCE" }],
    });
    const { owner: _, ...rest } = manifest({}).spec as TagSpec;
    const hints = (lifecycle: Manifest["lifecycle"]) => kindNamed("Tag")?.hints?.(pii(rest, { lifecycle }));
    expect(hints(manifest({}).lifecycle)).toMatchObject([{ code: "E_MISSING_KEY", place: { pointer: "/spec" } }]);
    expect(hints(pii({}).lifecycle)).toEqual([]);
  });

  test("its relations wait for it, or are blocked before it is created", () => {
    const resources: TagSpec["resources"] = [{ integration: "Orders" }, { monitor: { id: "m-1" } }];
    const waiting = ["Tag/pii#8f1c", "Tag/pii#m-1"].map((address) => ({ address, waitsFor: ["Tag/pii"] }));
    expect(found({ name: "X", resources, taggedBy: "u-1" })).toMatchObject({ items: [{ verb: "create" }], waiting });
    expect(found({ name: "X", resources })).toMatchObject({ waiting: [], blocked: waiting.map(({ address }) => ({ address })) });
  });
});

describe("invalid references", () => {
  const rows: readonly [sentence: string, reference: string, view: SmallAccount, code: string, text: string][] = [
    ["an unknown name, with a suggestion", "Order", {}, "E_UNKNOWN_REFERENCE", "Did you mean Orders?"],
    [
      "a name that several integrations have",
      "Twin",
      { integrations: [liveIntegration("x2", "Twin", "a"), liveIntegration("x1", "Twin", "b")] },
      "E_AMBIGUOUS",
      'x1 ("Twin", created 2026-02-02T09:30:00.000Z), x2 (',
    ],
  ];
  test.each(rows)("%s", (_, reference, view, code, text) => {
    const found = foundIn(
      accountViewOf([pii({ resources: [{ integration: reference }], taggedBy: "u-1" })], { ...withTag({}), ...view }),
      "Tag",
    );
    expect(found.problems).toMatchObject([
      { code, message: expect.stringContaining(text), place: { pointer: "/spec/resources/0/integration" } },
    ]);
    expect(found.items).toEqual([]);
  });
});
