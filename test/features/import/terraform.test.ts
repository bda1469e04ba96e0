// What an import takes from a state of Terraform: never a secret, nothing that exposes, and by name what the account does not share.
import { expect, onTestFinished, test } from "vitest";
import { type AccountState, type EmbeddedOptions, seedAccount } from "../../../src/embedded/index.ts";
import { openAccountProject } from "../../support/accounts/project.ts";
import { canary, terraformState } from "./terraform-state.ts";

async function imported(state: string, account: AccountState, options: EmbeddedOptions = {}) {
  const project = await openAccountProject(account, options);
  onTestFinished(project.close);
  await project.write("state.json", state);
  const report = await project.importJson({ terraformState: "state.json" });
  const { "state.json": _, ...files } = await project.files();
  return { project, report, files, text: Object.values(files).join("\n") };
}

test.each([{}, { observed: true }])(
  "a state that agrees with the account ends in an empty plan, without its secrets (%j)",
  async (options) => {
    const account = seedAccount(options.observed === true);
    const { report, text, files } = await imported(terraformState(account), account, options);
    expect([report.remaining, report.exit.code, report.state]).toEqual([[], 0, { missing: [], neverKept: [], readable: [] }]);
    expect(text + JSON.stringify(report)).not.toContain(canary);
    expect(text).toMatch(/hostname: db\.internal[\s\S]*?\n {4}password:\n {6}\$secret: \{ env: ORDERS_PG_PASSWORD \}/u);
    expect(text).toContain('replicationFrequency: "60"');
    // No integration uses it.
    expect(Object.keys(report.bindings)).toContain("Asset/lake");
    expect(files["dimsync-removed.tf"]).toContain(
      "from = module.shops.example_integration_schema.shop_shard_01\n\n  lifecycle {\n    destroy = false",
    );
    expect(files["dimsync-removed.tf"]).not.toContain("random_id");
  },
);

test("it names what the account does not have or keep and what is readable there, and takes nothing that exposes", async () => {
  const account = seedAccount(true);
  const state = terraformState(account, ({ name, schemas }) => {
    const wanted = structuredClone(schemas);
    const { orders, customers, orders__discounts: subtable, payments } = wanted["public"]?.tables ?? {};
    if (name !== "Orders" || !orders || !customers || !subtable || !payments) return wanted;
    Object.assign(orders.columns["contact_email"] ?? {}, { hashed: true });
    Object.assign(orders.columns["id"] ?? {}, { hashed: true });
    Object.assign(orders, { syncMode: "cdc" });
    Object.assign(subtable.columns["voucher_email"] ?? {}, { hashed: true });
    Object.assign(payments.columns["iban"] ?? {}, { hashed: false });
    Object.assign(customers.columns, { phones: { enabled: false } });
    return { ...wanted, reportings: { enabled: true } };
  });
  const changed = structuredClone(account);
  for (const one of changed.integrations) if (one.name === "Billing") one.id = "65e100000000000000000099";
  const { project, report, text } = await imported(state, changed, { observed: true });
  expect(report.state).toEqual({
    missing: [
      'example_integration.billing "Billing" (65e100000000000000000002). Did you mean Billing (65e100000000000000000099)?',
      "Schemas/orders public.customers.phones. Did you mean phone?",
      "Schemas/orders reportings. Did you mean reporting?",
    ],
    neverKept: [
      "Schemas/orders public.orders: syncMode is cdc in the state",
      "Schemas/orders public.orders.id: hashed is true in the state",
      "Schemas/orders public.orders__discounts.voucher_email: hashed is true in the state",
    ],
    readable: ["Schemas/orders public.orders.contact_email is hashed in the state"],
  });
  expect([report.remaining, report.stricter, report.exit]).toEqual([[], 1, { code: 1, reasons: ["not-in-account"] }]);
  expect(text).not.toMatch(/hashed: false|enabled: true/u);
  const { out } = await project.runImport({ terraformState: "state.json" });
  expect(out).toContain("In the state, and not in the account");
});

test.each([
  ["GET /v1/assets/=status:404", 1, ['example_destination.lake "Lake"']],
  ["GET /v1/assets/=status:403", 0, []],
])("an asset that no integration uses is not in the account only if GET of it returns 404 (%s)", async (fault, code, missing) => {
  const project = await openAccountProject(undefined, { observed: true });
  onTestFinished(project.close);
  await project.write("state.json", terraformState(project.service.state()));
  await project.write("dimsync.yaml", (await project.read("dimsync.yaml")).replace("prod: {", "prod: { service: { extended: true },"));
  const lake = project.service.state().assets.find(({ name }) => name === "Lake")?.id;
  project.service.addFault(fault.replace("/=", `/${lake}$=`));
  const { state } = await project.importJson({ terraformState: "state.json", dryRun: true });
  expect(state?.missing).toEqual(missing.map((one) => `${one} (${lake}).`));
  expect((await project.runImport({ terraformState: "state.json", dryRun: true })).code).toBe(code);
});

test.each([
  ["no JSON", "nothing", "is not a state of version 4"],
  ["what terraform show prints", JSON.stringify({ format_version: "1.0", values: {} }), "terraform state pull"],
  ["a state of other providers", JSON.stringify({ version: 4, resources: [] }), "has no integrations"],
])("%s is refused, and nothing is written", async (_, state, said) => {
  const project = await openAccountProject();
  onTestFinished(project.close);
  await project.write("state.json", state);
  const { code, err } = await project.runImport({ terraformState: "state.json" });
  expect([code, Object.keys(await project.files())]).toEqual([1, ["dimsync.yaml", "state.json"]]);
  expect(err).toContain(said);
});
