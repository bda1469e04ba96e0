// New and gone columns are in plan and drift until someone accepts them.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { findingsOf } from "../../../src/core/base/model/findings.ts";
import { fromPointer } from "../../../src/core/base/model/json/pointer.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { type OpenProject, openProject } from "../../support/open-project.ts";
import { configText, keyVariable } from "../../support/project-folder.ts";
import type { TestService } from "../../support/service.ts";
import { readySteps } from "../../support/steps.ts";

interface Project extends OpenProject {
  readonly plan: (...argv: readonly string[]) => Promise<Plan>;
  readonly catalog: () => string;
  /** Adds a column to a table of the integration, and enables it. */
  readonly addColumn: (id: string, path: readonly [schema: string, table: string, column: string], more?: object) => void;
}

const manifest = (unreviewed: string, more = ""): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec:
  integrations: { names: ["*"] }
${unreviewed === "" ? "" : `  unreviewed: ${unreviewed}\n`}${more}`;

const rules = '  rules: [{ id: all, match: { column: "*" }, set: { enabled: true } }]\n';

async function project(unreviewed = "", config: object = { catalog: "dimsync.catalog.yaml" }): Promise<Project> {
  const opened = await openProject({ "manifests/shops.yaml": manifest(unreviewed, rules) }, { parts: { ...config } });
  return {
    ...opened,
    plan: (...argv) => opened.made("plan", ...argv),
    catalog: () => readFileSync(join(opened.folder, "dimsync.catalog.yaml"), "utf8"),
    addColumn: (id, [schema, table, column], more = {}) =>
      opened.service.mutate((state) => {
        const columns = state.integrations.find((one) => one.id === id)?.schemas[schema]?.tables[table]?.columns;
        if (columns !== undefined)
          columns[column] = { nameInDestination: column, enabled: true, hashed: false, isPrimaryKey: false, ...more };
      }),
  };
}

/** What `catalog accept --all` writes for the seeded account, whatever the mode. */
let acceptedCatalog: string | undefined;

/** A project whose columns are accepted. */
async function accepted(unreviewed = ""): Promise<Project> {
  const made = await project(unreviewed);
  if (acceptedCatalog === undefined) await made.run("catalog", "accept", "--all");
  else made.write("dimsync.catalog.yaml", acceptedCatalog);
  acceptedCatalog = made.catalog();
  return made;
}

const orders = "8f1c";
const nationalId = ["public", "customers", "national_id2"] as const;

describe("plan and drift", () => {
  test("list new and gone columns with what the service does with them", async () => {
    const { addColumn, service, plan, run } = await accepted();
    expect(findingsOf(await plan(), "columns")).toEqual([]);
    addColumn(orders, nationalId);
    addColumn("51a1", ["public", "orders", "note"], { hashed: true });
    service.mutate((state) => {
      const table = state.integrations.find(({ id }) => id === orders)?.schemas["public"]?.tables["payments"];
      delete table?.columns["iban"];
    });
    const address = "Schemas/Orders";
    const at = (table: string, column: string) => `/schemas/public/tables/${table}/columns/${column}`;
    const added = {
      rule: "new-column",
      severity: "warning",
      message: "replicated, unhashed",
      path: at("customers", "national_id2"),
      address,
    };
    const hashed = { rule: "new-column", severity: "info", message: "replicated, hashed", path: at("orders", "note") };
    const gone = { rule: "gone-column", severity: "info", path: at("payments", "iban"), address };
    const expected = { findings: [added, gone, { ...hashed, address: "Schemas/shop-shard-01" }] };
    expect(await plan()).toMatchObject(expected);
    expect(JSON.parse((await run("drift", "-o", "json")).stdout)).toMatchObject(expected);
    const { stdout } = await run("plan");
    expect(stdout).toMatch(/2 new columns \(not reviewed\):\n {4}public\.customers\.national_id2 +replicated, unhashed +Orders\n/u);
    expect(stdout).toMatch(/1 reviewed column is gone:\n {4}public\.payments\.iban +Orders\n/u);
  });

  test("name a table that is gone once, with the number of its columns, also to rules that name them", async () => {
    const { plan, run, service, write } = await accepted();
    const more =
      "  missing: warn\n  rules: [{ match: { schema: public, column: [iban, card_last_four, e-mail] }, set: { hashed: true } }]\n";
    write("manifests/shops.yaml", manifest("", more).replace('names: ["*"]', "names: [Orders]"));
    service.mutate((state) => void delete state.integrations.find(({ id }) => id === orders)?.schemas["public"]?.tables["payments"]);
    expect((await run("plan")).stdout).toMatch(/\n *table public\.payments is gone \(7 columns\) +Orders\n/u);
    const messages = diagnosticsOf(await plan()).flatMap(({ code, message }) => (code === "W_MISSING_NAME" ? [message] : []));
    expect(messages).toEqual([
      expect.stringMatching(
        /^In Orders, the table public\.payments is gone \(7 columns\), .*: "iban", "card_last_four"\. Remove the names, or set/u,
      ),
      expect.stringMatching(/^Orders has no column "e-mail" in the tables that the rule matches\./u),
    ]);
  });

  test("show a new column with its label in every format", async () => {
    const { addColumn, plan, run, write } = await accepted();
    write(
      "manifests/personal.yaml",
      'apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec: { labels: [{ label: pii, match: { column: "*national_id*" } }] }\n',
    );
    addColumn(orders, nationalId);
    expect(findingsOf(await plan(), "columns")).toMatchObject([{ rule: "new-column", message: "replicated, unhashed, label pii" }]);
    for (const [format, text] of [
      ["human", /public\.customers\.national_id2 +replicated, unhashed, label pii +Orders\n/u],
      ["markdown", /`public\.customers\.national_id2` \*\*replicated, unhashed, label pii\*\* Orders/u],
      ["html", /<code>public\.<wbr>customers\.<wbr>national_<wbr>id2<\/code>/u],
      ["github", /^::warning title=new-column%3A A column that nobody has reviewed::public\.customers\.national_id2/mu],
    ] as const)
      expect((await run("plan", "-o", format)).stdout).toMatch(text);
  });

  test("--fail-on unreviewed exits with 2, a new column alone does not", async () => {
    const { addColumn, run } = await accepted();
    const codes = async () => [
      (await run("plan", "--detailed-exitcode")).code,
      (await run("plan", "--fail-on", "unreviewed")).code,
      (await run("drift")).code,
      (await run("drift", "--fail-on", "unreviewed")).code,
    ];
    const before = await codes();
    addColumn("51a1", ["public", "orders", "note"]);
    const after = await codes();
    expect([before[1], before[3]].map((code, index) => [code, after[index * 2 + 1]])).toEqual([
      [0, 2],
      [before[2], 2],
    ]);
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  });

  test("list no ignored columns, and none without a catalog", async () => {
    const { addColumn, plan, service, write } = await accepted();
    addColumn(orders, nationalId);
    const path = "/schemas/public/tables/customers/columns/national_id2";
    const ignore = [{ address: "SchemaConfig/*", path, reason: "theirs" }];
    for (const parts of [{ catalog: "dimsync.catalog.yaml", ignore }, {}]) {
      write("dimsync.yaml", configText(service.url, parts));
      expect(findingsOf(await plan(), "columns")).toEqual([]);
    }
  });
});

describe("unreviewed", () => {
  test("error refuses plan, drift and apply with exit 3, unless it is lifted", async () => {
    const { addColumn, run, plan } = await accepted("error");
    expect((await run("plan")).code).toBe(0);
    addColumn(orders, nationalId);
    expect((await run("plan")).code).toBe(3);
    expect((await run("drift")).code).toBe(3);
    expect((await run("apply", "--yes")).code).toBe(3);
    expect(await plan()).toMatchObject({
      executable: false,
      findings: [
        { rule: "unreviewed", guard: { actual: 1, limit: 0 } },
        { rule: "new-column", refuses: "unreviewed" },
      ],
    });
    expect((await run("plan", "--allow", "unreviewed=migration of 3 November")).code).toBe(0);
    expect((await run("plan", "--protect-only")).code).toBe(0);
  });

  test("warn gives a warning at its line", async () => {
    const { addColumn, plan } = await accepted("{ columns: warn }");
    addColumn(orders, nationalId);
    expect(diagnosticsOf(await plan())).toMatchObject([
      {
        code: "W_UNREVIEWED",
        file: "manifests/shops.yaml",
        line: 6,
        message: "1 column of Orders is not reviewed: public.customers.national_id2. Review and accept them.",
      },
    ]);
  });

  test("disable switches a new column off, whatever the rules set, until it is accepted", async () => {
    const { addColumn, run, plan, service } = await accepted("disable");
    await run("apply", "--yes", "--allow", "maxExposedColumns=demo", "--allow", "maxChangedPercent=demo");
    addColumn(orders, nationalId);
    const made = await plan();
    const { counts } = made;
    expect(readySteps(made)).toMatchObject([
      {
        address: "Schemas/Orders",
        changes: [
          {
            field: "enabled",
            nodes: { public: { customers: ["national_id2"] } },
            before: true,
            after: false,
            risk: "protects",
            cause: { rule: "unreviewed.columns", file: "manifests/shops.yaml", line: 6 },
          },
        ],
      },
    ]);
    expect(counts).toMatchObject({ protects: 1, exposes: 0 });
    const explained = await run("explain", "Schemas/Orders", nationalId.join("."));
    expect(explained.stdout).toMatch(/all +.*enabled: true.*\n.*unreviewed\.columns +.*enabled: false/u);
    expect((await run("apply", "--yes")).code).toBe(0);
    const columns = () => service.state().integrations.find(({ id }) => id === orders)?.schemas["public"]?.tables["customers"]?.columns;
    expect(columns()?.["national_id2"]).toMatchObject({ enabled: false });
    expect(readySteps(await plan())).toEqual([]);
    // A key stays on, with a warning.
    addColumn(orders, ["public", "customers", "key2"], { isPrimaryKey: true });
    const withKey = await plan("--only", "Schemas/Orders");
    expect([readySteps(withKey), diagnosticsOf(withKey).map(({ code }) => code)]).toEqual([[], expect.arrayContaining(["W_UNREVIEWED"])]);
    // The rule would switch it on: only after a review.
    await run("catalog", "accept", "Schemas/Orders", "public.customers.national_id2");
    expect(readySteps(await plan())).toMatchObject([{ changes: [{ before: false, after: true, risk: "exposes" }], exposedColumns: 1 }]);
  });

  test("without a catalog is an error at its line", async () => {
    const { run } = await project("disable", {});
    for (const command of ["validate", "plan"]) {
      const { code, stdout } = await run(command);
      expect(code).toBe(1);
      expect(stdout).toContain("manifests/shops.yaml:6:");
      expect(stdout).toContain("E_NO_CATALOG");
    }
  });
});

describe("an integration that the catalog does not have", () => {
  const without = (text: string, id: string): string => text.replace(new RegExp(`"?${id}"?: [^,}]*,? ?`, "gu"), "");
  const line = "Integration shop-shard-01 (51a1): 45 columns, never reviewed";

  test.each(["warn", "disable"])("with %s, is reported in one line and nothing of it is switched off", async (mode) => {
    const { catalog, plan, run, write } = await accepted(mode);
    write("dimsync.catalog.yaml", without(catalog(), "51a1"));
    const made = await plan();
    const never = { rule: "never-reviewed", severity: "warning", message: line, address: "Schemas/shop-shard-01", count: 45 };
    expect(findingsOf(made, "columns")).toEqual([never]);
    expect(
      readySteps(made)
        .flatMap((item) => [...eachChange(item)])
        .filter(({ after }) => after === false),
    ).toEqual([]);
    expect(diagnosticsOf(made).map(({ code, message }) => `${code} ${message}`)).toEqual(
      mode === "warn" ? [`W_UNREVIEWED ${line}. Review and accept it.`] : [],
    );
    for (const format of ["human", "markdown"]) expect((await run("plan", "-o", format)).stdout).toContain(line);
    expect((await run("plan", "--fail-on", "unreviewed")).code).toBe(2);
  });

  test("error refuses, until it is accepted", async () => {
    const { catalog, plan, run, write } = await accepted("error");
    const before = catalog();
    write("dimsync.catalog.yaml", without(before, "51a1"));
    expect(await plan()).toMatchObject({
      executable: false,
      findings: [
        { rule: "unreviewed", guard: { actual: 45 } },
        { rule: "never-reviewed", refuses: "unreviewed" },
      ],
    });
    const { stdout } = await run("catalog", "accept", "Schemas/shop-shard-01", "public.orders.id");
    expect(stdout).toBe("test: accepted 45 columns (1 integration for the first time) in dimsync.catalog.yaml. Commit it.\n");
    expect(catalog()).toBe(before);
    expect((await run("plan")).code).toBe(0);
  });

  test("an id that the account does not have is reported at its line, and nothing is switched off", async () => {
    const { catalog, plan, write } = await accepted("disable");
    write("dimsync.catalog.yaml", catalog().replaceAll("51a1", "51a9"));
    const made = await plan();
    expect(diagnosticsOf(made)).toMatchObject([{ code: "W_CATALOG_UNKNOWN_ID", file: "dimsync.catalog.yaml", line: 7 }]);
    expect(findingsOf(made, "columns")).toMatchObject([{ rule: "never-reviewed", message: expect.stringContaining("(51a1)") }]);
    expect(
      readySteps(made)
        .flatMap((item) => [...eachChange(item)])
        .filter(({ after }) => after === false),
    ).toEqual([]);
  });
});

test("an id is not called unknown if the integrations were not read", async () => {
  const { plan, write } = await accepted("disable");
  write("manifests/tag.yaml", "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n");
  expect(diagnosticsOf(await plan("--only", "Tag/*"))).toEqual([]);
  write("manifests/tag.yaml", "apiVersion: dimsync/v1\nkind: Tag\n");
  expect(new Set(diagnosticsOf(await plan()).map(({ code }) => code))).toEqual(new Set(["E_MISSING_KEY"]));
});

describe("names", () => {
  test("that changed in the service are updated by --all alone", async () => {
    const { catalog, plan, run, service } = await accepted("disable");
    service.mutate((state) => {
      const integration = state.integrations.find(({ id }) => id === orders);
      if (integration !== undefined) integration.name = "Orders EU";
    });
    expect(findingsOf(await plan(), "columns")).toEqual([]);
    expect((await run("catalog", "accept", "--all")).stdout).toBe("test: updated 1 name in dimsync.catalog.yaml. Commit it.\n");
    expect(catalog()).toContain('"8f1c": Orders EU');
    expect(await run("catalog", "accept", "--all")).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to accept") });
  });
});

describe("targets", () => {
  const withTargets = (service: TestService, catalogs: Readonly<Record<string, string | undefined>>): string => {
    const targetOf = (catalog: string | undefined) => ({ baseUrl: service.url, apiKey: { $secret: { env: keyVariable } }, catalog });
    return configText(service.url, { targets: Object.fromEntries(Object.entries(catalogs).map(([name, file]) => [name, targetOf(file)])) });
  };

  test("have a file each, and one without a catalog has no review", async () => {
    const { folder, run, service, write } = await project("", {});
    write("dimsync.yaml", withTargets(service, { prod: "prod.yaml", qa: "qa.yaml", dev: undefined }));
    expect((await run("plan", "-t", "dev")).code).toBe(0);
    expect((await run("plan", "-t", "prod")).stdout).toContain("dimsync catalog accept --all -t prod");
    expect((await run("catalog", "accept", "--all", "-t", "prod", "-t", "qa")).code).toBe(0);
    expect(readFileSync(join(folder, "qa.yaml"), "utf8")).toBe(readFileSync(join(folder, "prod.yaml"), "utf8"));
    expect((await run("plan", "--all-targets", "--fail-on", "unreviewed")).code).toBe(0);
  });

  test("must not share a file", async () => {
    const { run, service, write } = await project("", {});
    write("dimsync.yaml", withTargets(service, { prod: "c.yaml", dev: "./c.yaml" }));
    const { code, stdout } = await run("validate", "-t", "prod");
    expect(code).toBe(1);
    expect(stdout).toMatch(/dimsync\.yaml:\d+:\d+[\s\S]*E_TARGETS_SHARE/u);
  });
});

describe("the file", () => {
  test("is needed by plan, which names the command", async () => {
    const { run, folder } = await project();
    const { code, stdout } = await run("plan");
    expect(code).toBe(1);
    expect(stdout).toContain("E_CATALOG_MISSING");
    expect(stdout).toContain("dimsync.catalog.yaml does not exist");
    expect((await run("catalog", "accept", "--all")).stdout).toBe(
      "test: accepted 155 columns (4 integrations for the first time) in dimsync.catalog.yaml. Commit it.\n",
    );
    expect((await run("plan")).code).toBe(0);
    rmSync(join(folder, "dimsync.catalog.yaml"));
    expect((await run("apply", "--yes")).code).toBe(1);
  });

  test("with a mistake, is reported at its place, and nothing is planned, sent or written", async () => {
    const { run, catalog, write } = await accepted();
    const broken = `${catalog()}  - integrations: orders\n    tables: {}\n`;
    write("dimsync.catalog.yaml", broken);
    const line = broken.split("\n").length - 2;
    for (const argv of [["validate"], ["plan"], ["drift"], ["apply", "--yes"], ["catalog", "accept", "--all"]]) {
      const { code, stdout, stderr } = await run(...argv);
      expect([argv, code]).toEqual([argv, 1]);
      expect(stdout + stderr).toContain(`dimsync.catalog.yaml:${line}:19`);
    }
    expect(catalog()).toBe(broken);
  });

  test("does not count as a manifest", async () => {
    const { run, folder, write } = await accepted();
    write("dimsync.yaml", readFileSync(join(folder, "dimsync.yaml"), "utf8").replace("- manifests", "- ."));
    expect(await run("validate")).toMatchObject({ code: 0, stdout: expect.stringContaining("1 manifest in 1 file") });
  });
});

describe("catalog accept", () => {
  const newNames = ({ findings }: Plan) =>
    findings.flatMap(({ rule, address, path = "" }) => (rule === "new-column" ? [`${address} ${fromPointer(path).at(-1)}`] : []));

  test.each<[argv: readonly string[], left: readonly string[]]>([
    [["Schemas/Orders"], ["Schemas/shop-shard-01 note"]],
    [
      ["Schemas/Orders", "public.customers"],
      ["Schemas/Orders note", "Schemas/shop-shard-01 note"],
    ],
    [["Schemas/*", 'public."orders".note'], ["Schemas/Orders national_id2"]],
    [
      ["--all", "--exclude", "Schemas/Orders"],
      ["Schemas/Orders national_id2", "Schemas/Orders note"],
    ],
    [["--all"], []],
  ])("%j", async (argv, left) => {
    const { addColumn, run, plan } = await accepted();
    addColumn(orders, nationalId);
    addColumn(orders, ["public", "orders", "note"]);
    addColumn("51a1", ["public", "orders", "note"]);
    expect(await run("catalog", "accept", ...argv)).toMatchObject({ code: 0, stderr: "" });
    expect(newNames(await plan())).toEqual(left);
  });

  test.each<[argv: readonly string[], text: string]>([
    [[], "takes an address as plan prints it"],
    [["Schemas/Orders", "--all"], "takes an address as plan prints it"],
    [["Schemas/Nowhere"], "E_UNKNOWN_ADDRESS"],
    [["Schemas/Orders", "public.customers.emial"], "E_UNKNOWN_ADDRESS"],
  ])("%j is refused", async (argv, text) => {
    const { run, catalog } = await accepted();
    const before = catalog();
    const { code, stderr } = await run("catalog", "accept", ...argv);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(text) });
    expect(catalog()).toBe(before);
  });

  test("writes nothing if a read fails", async () => {
    const { run, catalog, service } = await accepted();
    const before = catalog();
    service.addFault("GET /v1/integrations/8f1c/schemas=status:500");
    expect(await run("catalog", "accept", "--all")).toMatchObject({ code: 1, stderr: expect.stringContaining("E_READ_FAILED") });
    expect(catalog()).toBe(before);
  });

  test("needs a catalog in the config", async () => {
    const { run } = await project("", {});
    expect((await run("catalog", "accept", "--all")).stderr).toContain("catalog: dimsync.catalog.test.yaml");
  });
});
