// The address of an integration's schemas does not depend on the SchemaConfigs that select it.

import { expect, test } from "vitest";
import type { Plan } from "../../../src/index.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { openProject } from "../../support/open-project.ts";
import { readySteps } from "../../support/steps.ts";

const shops = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec:
  integrations: { names: ["*"] }
  rules: [{ id: email, match: { column: "*email*" }, set: { hashed: true } }]
`;
const pii = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: pii }
spec:
  integrations: { names: ["*"] }
  priority: 10
  rules: [{ id: phone, match: { column: "*phone*" }, set: { hashed: true } }]
`;

async function start(files: Readonly<Record<string, string>>, config: Readonly<Record<string, unknown>> = {}) {
  const { run, made } = await openProject(files, { parts: config });
  return { run, plan: (...argv: readonly string[]) => made("plan", ...argv) };
}

const addresses = (made: Plan): readonly string[] => readySteps(made).map(({ address }) => address);
const both = { "manifests/a.yaml": shops, "manifests/b.yaml": pii };

test("adding a SchemaConfig of higher priority renames nothing", async () => {
  const alone = await start({ "manifests/a.yaml": shops });
  const layered = await start(both);
  const [before, after] = [await alone.plan(), await layered.plan()];
  expect(addresses(before)).toEqual(["Schemas/Billing", "Schemas/Orders", "Schemas/shop-shard-01", "Schemas/shop-shard-02"]);
  expect(addresses(after)).toEqual(addresses(before));
  expect(readySteps(after)[1]).toMatchObject({ manifests: ["SchemaConfig/shops", "SchemaConfig/pii"] });
});

test("--only and --exclude take a SchemaConfig for the schemas that it selects, whatever its priority", async () => {
  const { plan } = await start(both);
  const all = await plan();
  for (const only of ["SchemaConfig/shops*", "SchemaConfig/pii", "Schemas/*"]) {
    expect(readySteps(await plan("--only", only)), only).toEqual(readySteps(all));
  }
  expect(addresses(await plan("--only", "Schemas/shop-*"))).toEqual(["Schemas/shop-shard-01", "Schemas/shop-shard-02"]);
  expect(addresses(await plan("--exclude", "SchemaConfig/pii"))).toEqual([]);
  expect(addresses(await plan("--exclude", "Schemas/shop-*"))).toEqual(["Schemas/Billing", "Schemas/Orders"]);
});

test.each(["Schemas/Orders", "SchemaConfig/shops"])(
  "ignore: %s holds after a SchemaConfig of higher priority is added",
  async (address) => {
    const ignore = [{ address, path: "/schemas", reason: "theirs" }];
    const [before, after] = await Promise.all([start({ "manifests/a.yaml": shops }, { ignore }), start(both, { ignore })]);
    const left = address === "SchemaConfig/shops" ? [] : ["Schemas/Billing", "Schemas/shop-shard-01", "Schemas/shop-shard-02"];
    for (const plan of [await before.plan(), await after.plan()]) {
      expect(addresses(plan)).toEqual(left);
      expect(diagnosticsOf(plan).map(({ code }) => code)).toEqual([]);
    }
  },
);

test("an ignore entry whose address nothing has is an error at its line, in a run that reads everything", async () => {
  const entry = (address: string) => ({ address, path: "", reason: "DPIA-41" });
  const ignore = [
    entry("Schemas/Ordres"),
    entry("SchemaConfig/shops@Orders"),
    entry("Schemas/shop-*"),
    { ...entry("Tag/x"), until: "2020-01-01" },
  ];
  const { plan, run } = await start(both, { ignore });
  const unmatched = (plan: Plan) => diagnosticsOf(plan).filter(({ code }) => code === "W_UNUSED" || code === "E_UNKNOWN_ADDRESS");
  const found = unmatched(await plan());
  expect(found.map(({ message }) => message)).toEqual([
    'No object has the address "Schemas/Ordres", so the entry ignores nothing (DPIA-41). Did you mean Schemas/Orders? Correct the address, or remove the entry.',
    expect.stringContaining('No object has the address "SchemaConfig/shops@Orders", so the entry ignores nothing (DPIA-41).'),
    expect.stringContaining("Differences of Tag/x at any path were ignored until 2020-01-01 (DPIA-41)."),
  ]);
  expect(found.map(({ severity }) => severity)).toEqual(["error", "error", "warning"]);
  for (const { file, line } of found) expect({ file, line }).toEqual({ file: "dimsync.yaml", line: expect.any(Number) });
  const expired = [expect.objectContaining({ message: expect.stringContaining("were ignored until 2020-01-01") })];
  expect(unmatched(await plan("--only", "Schemas/Billing"))).toEqual(expired);
  const drift = await run("drift");
  expect([drift.code, drift.stdout]).toEqual([1, expect.stringContaining("E_UNKNOWN_ADDRESS")]);
});

test("an ignore entry whose path nothing has is a warning at its line", async () => {
  const rows: readonly (readonly [path: string, address: string, end: string | undefined])[] = [
    ["/schema/public", "Schemas/Orders", 'has no "schema", so the entry ignores nothing (theirs). Did you mean schemas?'],
    ["/schemas/public/tables/custmers", "SchemaConfig/shops", 'no "custmers" at /schemas/public/tables, so'],
    ["/schemas/public/tables/customers/columns/*mail/hashed", "Schemas/Orders", undefined],
    ["/schemas/public/tables/x_*", "Schemas/*", 'no "x_*" at /schemas/public/tables, so'],
    ["/schemas/*/tables/*/columns/email", "Schemas/*", undefined],
  ];
  const { plan } = await start(both, { ignore: rows.map(([path, address]) => ({ address, path, reason: "theirs" })) });
  const found = diagnosticsOf(await plan()).filter(({ code }) => code === "W_UNUSED");
  expect(found.map(({ message }) => message)).toEqual(
    rows.flatMap(([, , end]) => (end === undefined ? [] : [expect.stringContaining(end)])),
  );
  for (const { file, line } of found) expect({ file, line }).toEqual({ file: "dimsync.yaml", line: expect.any(Number) });
});

test("an unknown address in --only is an error that names a similar one", async () => {
  const { run } = await start(both);
  const { code, stdout } = await run("plan", "--only", "Schemas/Ordres");
  expect({ code, text: stdout.replaceAll(/\s+/gu, " ") }).toEqual({
    code: 1,
    text: expect.stringContaining("Did you mean Schemas/Orders?"),
  });
  expect(await run("plan", "--only", "SchemaConfig/shop")).toMatchObject({ code: 1, stderr: expect.stringContaining("E_USAGE") });
});

test("explain takes the address of the schemas", async () => {
  const { run } = await start(both);
  const explained = await run("explain", "Schemas/Orders", "public.customers.email", "-o", "json");
  expect(JSON.parse(explained.stdout)).toMatchObject([{ address: "Schemas/Orders" }]);
  for (const name of ["Orders", "Integration/Orders"])
    expect((await run("explain", name, "public.customers.email", "-o", "json")).stdout, name).toBe(explained.stdout);
});
