// What is ignored is neither compared nor sent, until its day.
import { describe, expect, test } from "vitest";
import { objectAddress } from "../../../src/core/base/model/address.ts";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { defined } from "../../../src/core/base/model/json/json.ts";
import type { IgnoreEntry } from "../../../src/core/base/model/settings/config.ts";
import { ignoring } from "../../../src/core/plan/scope.ts";
import { type Exchange, seedAccount } from "../../../src/embedded/index.ts";
import type { Plan, Result } from "../../../src/index.ts";
import { openProject } from "../../support/open-project.ts";
import { configText } from "../../support/project-folder.ts";
import { byHandSteps, outcomes, readySteps, unseenSteps } from "../../support/steps.ts";

const entry = (address: string, path = "", until?: string): IgnoreEntry => ({ address, path, reason: "theirs", ...defined({ until }) });
const leaf = "/schemas/public/tables/audit_log/columns/a~1b/hashed";

describe("an ignore entry covers", () => {
  test.each<[string, IgnoreEntry, string, string, boolean]>([
    ["its address and path", entry("Tag/pii", "/description"), "Tag/pii", "/description", true],
    ["no other path", entry("Tag/pii", "/description"), "Tag/pii", "/owner", false],
    ["no path that only has the same prefix", entry("Tag/pii", "/des"), "Tag/pii", "/description", false],
    ["no other address", entry("Tag/pii", "/description"), "Tag/pii2", "/description", false],
    ["everything below its path", entry("SchemaConfig/a", "/schemas/public"), "Schemas/x", leaf, true],
    ["nothing above its path", entry("SchemaConfig/a", leaf), "Schemas/x", "/schemas/public/enabled", false],
    ["a node is not its parent", entry("Tag/pii", "/description"), "Tag/pii", "", false],
    ["everything, for an empty path", entry("Tag/pii"), "Tag/pii", "/name", true],
    ["the object as a whole, for an empty path", entry("Tag/pii"), "Tag/pii", "", true],
    ["all parts of a manifest", entry("Tag/pii"), "Tag/pii#8f1c", "", true],
    ["one part", entry("Tag/pii#8f1c"), "Tag/pii#8f1c", "", true],
    ["not the other parts", entry("Tag/pii#8f1c"), "Tag/pii#b27d", "", false],
    ["addresses by a glob", entry("Integration/*", "/paused"), "Integration/orders", "/paused", true],
    ["integrations by a glob", entry("Schemas/shop-*"), "Schemas/shop-7", leaf, true],
    ["not those that it does not match", entry("Schemas/shop-*"), "Schemas/orders", leaf, false],
    ["no integration that the SchemaConfig does not select", entry("SchemaConfig/a"), "Schemas/y", leaf, false],
    ["a glob for each segment", entry("SchemaConfig/*", "/schemas/*/tables/audit_*"), "Schemas/x", leaf, true],
    ["a glob stays in its segment", entry("SchemaConfig/*", "/schemas/*/hashed"), "Schemas/x", leaf, false],
    ["names that pointers escape", entry("SchemaConfig/*", "/schemas/public/tables/*/columns/a~1b"), "Schemas/x", leaf, true],
    ["hostile names", entry("SchemaConfig/*", "/schemas/__proto__"), "Schemas/x", "/schemas/__proto__/enabled", true],
    ["until its last day", entry("Tag/pii", "/description", "2026-06-01"), "Tag/pii", "/description", true],
    ["nothing from the next day on", entry("Tag/pii", "/description", "2026-05-31"), "Tag/pii", "/description", false],
  ])("%s", (_sentence, given, address, path, expected) => {
    const addressesOf = (one: string) => [one, objectAddress(one), ...(one === "Schemas/x" ? ["SchemaConfig/a"] : [])];
    expect(ignoring([entry("Asset/other"), given], "2026-06-01").ignored?.(addressesOf(address), path)).toBe(expected);
  });

  test("an expired entry is reported with its reason", () => {
    const { problems } = ignoring([entry("Tag/pii", "/description", "2026-05-31"), entry("Tag/x", "", "2026-06-01")], "2026-06-01");
    expect(problems).toEqual([
      expect.objectContaining({
        code: "W_UNUSED",
        severity: "warning",
        address: "Tag/pii",
        message: expect.stringContaining("until 2026-05-31 (theirs)"),
      }),
    ]);
  });
});

const manifests = `apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii }
spec: { name: PII, description: Personal data, owner: u-1, exclusive: true, taggedBy: u-1, resources: [{ integration: { id: 8f1c } }, { integration: { id: b27d } }] }
---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders }, expect: { paused: true } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  rules: [{ match: { table: users, column: "*" }, set: { hashed: true } }]
  schemas: { public: { tables: { users: { columns: { id: { hashed: false }, email: { enabled: false } } } } } }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: warehouse, id: d-12 }
spec: { name: Renamed, type: bigquery, description: x, connection: { account: y } }
`;

interface Ran {
  readonly plan: Plan;
  readonly result: Result;
  readonly bodies: readonly unknown[];
}

/** Plan and apply with these entries in the config and every body that was sent. */
async function run(ignore: readonly Omit<IgnoreEntry, "until">[]): Promise<Ran> {
  const bodies: unknown[] = [];
  const bindings =
    'apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  test:\n    Integration/orders: { id: "8f1c" }\n    Tag/pii: { id: "t-1" }\n    Asset/warehouse: { id: "d-12" }\n';
  const onExchange = ({ method, requestBody }: Exchange) => void (method === "GET" || bodies.push(requestBody));
  const files = { "manifests/a.yaml": manifests, "dimsync.bindings.yaml": bindings };
  const { made } = await openProject(files, { parts: { ignore }, options: { state: seedAccount(), onExchange } });
  return { plan: await made("plan"), result: await made<Result>("apply", "--yes"), bodies };
}

const shown = ({ plan }: Ran) => ({
  items: readySteps(plan).map(
    (item) =>
      `${item.address} ${[...eachChange(item)]
        .sort((a, b) => (a.path < b.path ? -1 : 1))
        .map(({ path }) => path.replace("/schemas/public/tables/users/columns/", ""))
        .join(" ")}`,
  ),
  byHand: byHandSteps(plan).map(({ address, path }) => `${address} ${path}`),
  unseen: unseenSteps(plan).map(({ paths }) => paths.join(" ")),
});
const whole = {
  items: [
    "Asset/warehouse /description /name",
    "Schemas/orders display_name/hashed email/enabled email/hashed last_login_at/hashed password_hash/hashed updated_at/hashed",
    "Tag/pii /description /owner",
    "Tag/pii#b27d /taggedResources/b27d",
  ],
  byHand: ["Asset/warehouse /type", "Integration/orders /paused", "Tag/pii#da-7 "],
  unseen: ["/connection/account"],
};
const users = "/schemas/public/tables/users";

describe("plan and apply ignore", () => {
  test.each<[string, readonly Omit<IgnoreEntry, "until">[], Partial<ReturnType<typeof shown>>]>([
    ["nothing without an entry", [], {}],
    [
      "a tag's field",
      [{ address: "Tag/pii", path: "/description", reason: "r" }],
      { items: whole.items.map((text) => (text.startsWith("Tag") ? text.replace("/description ", "") : text)) },
    ],
    ["a relation by its leaf", [{ address: "Tag/pii#b27d", path: "/taggedResources", reason: "r" }], { items: whole.items.slice(0, 3) }],
    [
      "all of a tag, relations and steps by hand included",
      [{ address: "Tag/pii", path: "", reason: "r" }],
      { items: whole.items.slice(0, 2), byHand: whole.byHand.slice(0, 2) },
    ],
    [
      "a leaf of schemas",
      [{ address: "Schemas/orders", path: `${users}/columns/email/enabled`, reason: "r" }],
      { items: whole.items.map((text) => text.replace("email/enabled ", "")) },
    ],
    [
      "a table of schemas",
      [{ address: "SchemaConfig/*", path: "/schemas/*/tables/us*", reason: "r" }],
      { items: whole.items.filter((text) => !text.startsWith("Schema")) },
    ],
    [
      "an asset's member, its step by hand, and its unseen values",
      [
        { address: "Asset/*", path: "/name", reason: "r" },
        { address: "Asset/*", path: "/type", reason: "r" },
        { address: "Asset/*", path: "/description", reason: "r" },
        { address: "Asset/*", path: "/connection", reason: "r" },
      ],
      { items: whole.items.slice(1), byHand: whole.byHand.slice(1), unseen: [] },
    ],
    [
      "a step by hand",
      [{ address: "Integration/orders", path: "/paused", reason: "r" }],
      { byHand: whole.byHand.filter((text) => !text.includes("paused")) },
    ],
  ])("%s", async (_sentence, ignore, expected) => {
    const ran = await run(ignore);
    expect(shown(ran)).toEqual({ ...whole, ...expected });
    expect(outcomes(ran.result).map(({ address, outcome }) => `${address} ${outcome}`)).toEqual(
      readySteps(ran.plan).map(({ address }) => `${address} done`),
    );
    expect(ran.bodies).toHaveLength(readySteps(ran.plan).length);
  });

  test("a body that is sent for other reasons does not have the value", async () => {
    const { bodies } = await run([
      { address: "Tag/pii", path: "/description", reason: "r" },
      { address: "SchemaConfig/orders", path: `${users}/columns/email/enabled`, reason: "r" },
    ]);
    expect(bodies).toContainEqual({ name: "PII", description: "Contains personal data", owner: "u-1" });
    const email = bodies.flatMap(
      (body) =>
        (body as { schemas?: { public: { tables: { users: { columns: Record<string, unknown> } } } } }).schemas?.public.tables.users
          .columns["email"] ?? [],
    );
    expect(email).toEqual([{ hashed: true }]);
  });

  test("errors of an object that is ignored as a whole do not stop the run", async () => {
    const wrong =
      "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec: { integration: { id: 8f1c }, schemas: { nope: { enabled: true } } }\n";
    const { service, run, write } = await openProject({ "manifests/a.yaml": wrong });
    const code = async (ignore: readonly object[]) => {
      write("dimsync.yaml", configText(service.url, { ignore }));
      return (await run("plan")).code;
    };
    expect([await code([]), await code([{ address: "SchemaConfig/orders", path: "", reason: "r" }])]).toEqual([1, 0]);
  });
});
