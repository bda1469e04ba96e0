// What a pull request gives up, with a real git repository and the embedded service. main declares the state of the account; then a branch changes one thing.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { guardFindings, loosenedOf, policyFindings } from "../../../../src/core/base/model/findings.ts";
import { eachChange, type Plan } from "../../../../src/index.ts";
import { dayIn } from "../../../support/clock.ts";
import { runCommand } from "../../../support/command.ts";
import { commitAll, repositoryIn } from "../../../support/git/remote.ts";
import { keyVariable, writeFolder } from "../../../support/project-folder.ts";
import { startService, type TestService } from "../../../support/service.ts";
import { readySteps } from "../../../support/steps.ts";
import { type DbtTable, dbtManifest } from "../../columns/labels/dbt-manifest.ts";

type Files = Readonly<Record<string, string | undefined>>;

const config = (more = "", target = ""): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
guards: { maxExposedColumns: 2 }
${more}targets:
  default: { baseUrl: "URL", apiKey: { $secret: { env: ${keyVariable} } }${target} }
`;
const orders = (
  rules = "    - { id: pii, match: { column: '*email*' }, set: { hashed: true } }\n",
  more = "",
): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: { id: 8f1c }
  rules:
${rules}${more}`;
const policy = ({ severity = "error", name = "'*email*'", more = "" } = {}): string => `apiVersion: dimsync/v1
kind: Policy
metadata: { name: pii-hashed }
spec:
  severity: ${severity}
  when: { column: { name: [${name}], enabled: true } }
  require: { hashed: true }
  message: personal data would be readable
${more}`;
const exemption = (expires: string, more = ""): string =>
  `  exemptions:\n    - { schema: public, table: users, column: email${more}, reason: DPIA-41, approvedBy: p@example.com, expires: ${expires} }\n`;
const labels = (column: string): string => `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { labels: [{ label: pii, match: { column: [${column}] } }] }
`;
const integration = (name: string): string =>
  `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: shop, id: 8f1c }\nspec: { settings: { name: ${name} } }\n`;
const tag = (more: string): string => `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec:\n  name: PII\n${more}`;
const catalog = (columns: string): string =>
  `apiVersion: dimsync/v1\nkind: Catalog\nreviewed:\n  - integrations: { 8f1c: Orders }\n    tables:\n      public/users: [${columns}]\n`;
const start: Files = { "dimsync.yaml": config(), "manifests/orders.yaml": orders(), "manifests/policy.yaml": policy() };
/** A rule and a policy match columns by a label that a file gives. */
const labelledBy = (source: string, files: Files): Files => ({
  ...start,
  ...files,
  "manifests/labels.yaml": labels("").replace(/spec: .*/u, `spec: { from: [${source}] }`),
  "manifests/orders.yaml": orders("    - { id: pii, match: { label: pii }, set: { hashed: true } }\n"),
  "manifests/policy.yaml": policy().replace("name: ['*email*']", "label: pii"),
});
const csvRows = (...rows: readonly string[]): Files => ({
  "labels.csv": ["schema,table,column,label", ...rows.map((row) => `public,${row},pii`), ""].join("\n"),
});
const ofCsv = labelledBy("{ csv: { file: labels.csv } }", csvRows("users,email", "customers,email", "orders,contact_email"));
const personal = { meta: { contains_pii: true }, tags: ["personal"] };
const dbtFile = (customers: NonNullable<DbtTable["columns"]>, users: DbtTable = { columns: { email: personal } }): Files => ({
  "dbt/target/manifest.json": dbtManifest({ customers: { schema: "ORDERS", columns: customers }, users: { schema: "ORDERS", ...users } }),
});
const ofDbt = (where: string): Files =>
  labelledBy(`{ dbt: { manifest: dbt/target/manifest.json, label: pii, where: ${where} } }`, dbtFile({ email: personal, phone: personal }));
const byMeta = ofDbt("{ meta: { contains_pii: true } }");

interface Reviewed {
  readonly service: TestService;
  readonly folder: string;
}

/** Repositories whose branch main is a base that was applied, by their files: plan changes neither, so tests share them. */
const reviewed = new Map<string, Promise<Reviewed>>();
afterAll(async () => {
  for (const { service, folder } of await Promise.all(reviewed.values())) {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

function writeIn({ folder, service }: Reviewed, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (text === undefined) rmSync(file, { force: true });
    else writeFileSync(file, text.replace("URL", service.url));
  }
}

const runIn = ({ folder, service }: Reviewed, ...argv: readonly string[]) =>
  runCommand([...argv, "-q"], folder, { [keyVariable]: service.apiKey });

async function applied(base: Files, broken: Files): Promise<Reviewed> {
  const folder = writeFolder({ ".gitignore": ".dimsync\n" });
  const made = { service: await startService(), folder };
  writeIn(made, base);
  repositoryIn(folder);
  expect((await runIn(made, "apply", "--yes")).code).toBe(0);
  writeIn(made, broken);
  commitAll(folder);
  return made;
}

interface ReviewOptions {
  readonly flags?: readonly string[];
  readonly broken?: Files | undefined;
  readonly base?: readonly string[];
}

/** Plans the changes, uncommitted, against main. */
async function review(base: Files, changes: Files, { flags = [], broken = {}, base: given = ["--base", "main"] }: ReviewOptions = {}) {
  const key = JSON.stringify([base, broken]);
  const made = reviewed.get(key) ?? applied(base, broken);
  reviewed.set(key, made);
  const added = Object.fromEntries(Object.keys(changes).map((path) => [path, undefined]));
  writeIn(await made, changes);
  onTestFinished(async () => writeIn(await made, { ...added, ...base, ...broken }));
  const ran = await runIn(await made, "plan", ...given, ...(flags.includes("-o") ? [] : ["-o", "json"]), ...flags);
  const plan = (ran.stdout.startsWith("{") ? JSON.parse(ran.stdout) : {}) as Plan;
  const texts = (plan.findings === undefined ? [] : loosenedOf(plan)).map(
    ({ rule, address, message, at = "head", file = "", line = "", count = "" }) => {
      const hidden = /(?:would find|covers) (\d+|no) /u.exec(message)?.[1]?.replace("no", "0") ?? "0";
      return [rule, address, `${file}:${line}@${at}`, `${count}/${/^(?:policy|exemption)-/u.test(rule) ? hidden : ""}`].join(" ");
    },
  );
  return { ...ran, plan, texts };
}

interface Case {
  readonly base?: Files;
  /** Added to the base after the apply. */
  readonly broken?: Files;
  readonly changes: Files;
  readonly found: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "nothing changes": { changes: {}, found: [] },
  "a rule is added": {
    changes: { "manifests/orders.yaml": orders(undefined, "    - { match: { column: phone }, set: { hashed: true } }\n") },
    found: [],
  },
  "a policy is removed": {
    changes: { "manifests/policy.yaml": undefined },
    found: ["policy-removed Policy/pii-hashed manifests/policy.yaml:1@base 3/0"],
  },
  "a policy is only renamed": {
    changes: { "manifests/policy.yaml": policy().replace("name: pii-hashed", "name: other") },
    found: [],
  },
  "a policy is only a warning, and the rule exposes": {
    changes: {
      "manifests/policy.yaml": policy({ severity: "warning" }),
      "manifests/orders.yaml": orders().replace("hashed: true", "hashed: false"),
    },
    found: [
      "policy-weakened Policy/pii-hashed manifests/policy.yaml:1@head 3/3",
      "protection-lost-later rule pii manifests/orders.yaml:7@base /",
    ],
  },
  "a policy checks fewer columns": {
    changes: { "manifests/policy.yaml": policy({ name: "email" }) },
    found: ["policy-weakened Policy/pii-hashed manifests/policy.yaml:1@head 1/0"],
  },
  "a policy checks other columns that the account does not have": {
    base: { ...start, "manifests/policy.yaml": policy({ name: "'*email*', nowhere" }) },
    changes: { "manifests/policy.yaml": policy() },
    found: ["policy-weakened Policy/pii-hashed manifests/policy.yaml:1@head 0/0"],
  },
  "an exemption is added, and the rule exposes": {
    changes: {
      "manifests/policy.yaml": policy({ more: exemption(dayIn(100)) }),
      "manifests/orders.yaml": orders(
        undefined,
        "    - { match: { schema: public, table: users, column: email }, set: { hashed: false } }\n",
      ),
    },
    found: ["exemption-added Policy/pii-hashed manifests/policy.yaml:10@head 1/1"],
  },
  "an exemption covers more": {
    base: { ...start, "manifests/policy.yaml": policy({ more: exemption(dayIn(100), ", integration: Orders") }) },
    changes: { "manifests/policy.yaml": policy({ more: exemption(dayIn(100)) }) },
    found: ["exemption-widened Policy/pii-hashed manifests/policy.yaml:10@head 1/0"],
  },
  "an exemption lasts longer": {
    base: { ...start, "manifests/policy.yaml": policy({ more: exemption(dayIn(100)) }) },
    changes: { "manifests/policy.yaml": policy({ more: exemption(dayIn(128)) }) },
    found: ["exemption-extended Policy/pii-hashed manifests/policy.yaml:10@head 1/0"],
  },
  "an exemption lasts longer, which hides a finding at the base already": {
    base: {
      ...start,
      "manifests/orders.yaml": orders().replace("'*email*'", "contact_email"),
      "manifests/policy.yaml": policy({ name: "email", more: exemption(dayIn(100)) }),
    },
    changes: { "manifests/policy.yaml": policy({ name: "email", more: exemption(dayIn(128)) }) },
    found: ["exemption-extended Policy/pii-hashed manifests/policy.yaml:10@head 1/1"],
  },
  "what checks, repairs and reports is taken away": {
    base: {
      ...start,
      "dimsync.yaml": config("notify: { url: { $secret: { env: HOOK } } }\n", ", controller: { every: 15m, mode: protect }"),
      "manifests/orders.yaml": orders(
        "    - { id: pii, match: { column: '*email*' }, set: { hashed: true }, minMatches: 2 }\n",
        "  expect: [{ match: { schema: public, table: users }, nameInDestination: users }]\n",
      ),
      "manifests/tag.yaml": tag("  exclusive: true\n"),
    },
    changes: {
      "dimsync.yaml": config("", ", controller: { every: 1d, mode: report }"),
      "manifests/orders.yaml": orders("    - { id: pii, match: { column: '*email*' }, set: { hashed: true } }\n"),
      "manifests/tag.yaml": tag(""),
    },
    found: [
      ...["notify", "controller.mode", "controller.every"].map(() => "check-dropped target default dimsync.yaml:7@base /"),
      "check-dropped SchemaConfig/orders manifests/orders.yaml:7@base /",
      "check-dropped SchemaConfig/orders manifests/orders.yaml:8@base /",
      "check-dropped Tag/pii manifests/tag.yaml:5@base /",
    ],
  },
  "an integration that expects nothing has no manifest any more": {
    base: { ...start, "manifests/integration.yaml": integration("Orders") },
    changes: { "manifests/integration.yaml": undefined },
    found: [expect.stringMatching(/^released /u) as string],
  },
  "new columns are replicated before a plan sees them": {
    base: { ...start, "manifests/integration.yaml": integration("Orders, onSchemaUpdate: ignoreAll") },
    changes: { "manifests/integration.yaml": integration("Orders, onSchemaUpdate: enableAll") },
    found: ["check-dropped Integration/shop manifests/integration.yaml:4@base /"],
  },
  "columns are accepted that the account does not have": {
    base: { ...start, "dimsync.yaml": config("", ", catalog: catalog.yaml"), "catalog.yaml": catalog("email, id") },
    changes: { "catalog.yaml": catalog("bonus, email, id, salary") },
    found: ["accepted-ahead catalog.yaml :@head 2/"],
  },
  "a target is gone": {
    broken: {
      "dimsync.yaml": `${config()}  eu: { baseUrl: "https://eu.example.com", apiKey: { $secret: { env: ${keyVariable} } } }
`,
    },
    changes: { "dimsync.yaml": config() },
    found: ["target-gone target eu dimsync.yaml:7@base /"],
  },
  "a guard is raised": {
    changes: { "dimsync.yaml": config().replace("maxExposedColumns: 2", "maxExposedColumns: 1000") },
    found: ["guard-raised guard maxExposedColumns dimsync.yaml:4@head /"],
  },
  "a guard is removed, so that the default counts": {
    changes: { "dimsync.yaml": config().replace("guards: { maxExposedColumns: 2 }\n", "") },
    found: ["guard-raised guard maxExposedColumns dimsync.yaml:4@base /"],
  },
  "a guard is lifted": {
    changes: { "dimsync.yaml": config(`allow: [{ guard: maxExposedColumns, reason: DPIA-41, until: DAY }]\n`) },
    found: ["allow-added guard maxExposedColumns dimsync.yaml:5@head /"],
  },
  "everything is ignored": {
    changes: { "dimsync.yaml": config("ignore: [{ address: 'Schemas/*', path: /schemas, reason: tidy }]\n") },
    found: ["ignore-added Schemas/* dimsync.yaml:5@head /", "protection-lost rule pii manifests/orders.yaml:7@base 4/"],
  },
  "a rule is removed that kept only what the config ignores": {
    base: {
      ...start,
      "dimsync.yaml": config("ignore: [{ address: 'Schemas/*', path: /schemas, reason: tidy }]\n"),
      "manifests/policy.yaml": undefined,
    },
    changes: { "manifests/orders.yaml": orders("    []\n") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a rule ignores a table": {
    changes: { "manifests/orders.yaml": orders(undefined, "    - { match: { table: users }, ignore: true }\n") },
    found: ["ignore-added SchemaConfig/orders manifests/orders.yaml:8@head /", "protection-lost rule pii manifests/orders.yaml:7@base 1/"],
  },
  "unmatched tables stay as they are": {
    base: {
      ...start,
      "manifests/orders.yaml": orders().replace("  rules:", "  unmatched: { tables: disable }\n  rules:"),
      "manifests/policy.yaml": undefined,
    },
    changes: { "manifests/orders.yaml": orders() },
    found: [
      "managed-less SchemaConfig/orders manifests/orders.yaml:6@base /",
      expect.stringMatching(/^protection-lost rule unmatched.tables /u) as string,
    ],
  },
  "reviews are not strict any more": {
    base: { ...start, "dimsync.yaml": config("review: strict\n", ", vars: { a: b }") },
    changes: { "dimsync.yaml": config("", ", vars: { a: b }") },
    found: ["managed-less review dimsync.yaml:5@base /"],
  },
  "a rule is removed": {
    changes: {
      "manifests/orders.yaml": orders("    - { id: rest, match: { column: nowhere }, set: { hashed: true }, minMatches: 0 }\n"),
      "manifests/policy.yaml": policy(),
    },
    found: ["protection-lost rule pii manifests/orders.yaml:7@base 4/"],
  },
  "a rule names the columns that the account has": {
    changes: { "manifests/orders.yaml": orders().replace("'*email*'", "[email, actor_email, contact_email]") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a rule excludes columns that the account does not have": {
    changes: { "manifests/orders.yaml": orders().replace("'*email*'", "['*email*', '!test_*']") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a pattern of a rule becomes wider": {
    changes: { "manifests/orders.yaml": orders().replace("'*email*'", "'*mail*'") },
    found: [],
  },
  "a rule matches more, and moved into a RuleSet": {
    changes: {
      "manifests/orders.yaml": `${orders("    - { use: pii }\n")}---\n${orders()
        .replace("SchemaConfig", "RuleSet")
        .replace("name: orders", "name: pii")
        .replace("  integration: { id: 8f1c }\n", "")
        .replace("column: '*email*'", "column: ['*email*', '*phone*'], ignoreCase: true")}`,
    },
    found: [],
  },
  "a SchemaConfig selects the integrations that the account has": {
    base: { ...start, "manifests/orders.yaml": orders().replace("integration: { id: 8f1c }", "integrations: { names: ['Orders*'] }") },
    changes: { "manifests/orders.yaml": orders().replace("integration: { id: 8f1c }", "integrations: { names: [Orders] }") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a rule un-hashes what comes later": {
    changes: {
      "manifests/orders.yaml": orders(
        undefined,
        "    - { match: { column: ['backup_*', 'nowhere'] }, set: { hashed: false }, minMatches: 0 }\n",
      ),
    },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a rule un-hashes what comes later, and another one hashes it again": {
    changes: {
      "manifests/orders.yaml": orders(
        "    - { match: { column: 'backup_*' }, set: { hashed: false }, minMatches: 0 }\n    - { id: pii, match: { column: '*email*' }, set: { hashed: true } }\n",
      ),
    },
    found: [],
  },
  "a SchemaConfig of higher priority un-hashes what comes later": {
    changes: {
      "manifests/more.yaml": orders("    - { match: { column: 'backup_*' }, set: { hashed: false }, minMatches: 0 }\n")
        .replace("name: orders", "name: more")
        .replace("  rules:", "  priority: 5\n  rules:"),
    },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a SchemaConfig is renamed, and matches less": {
    changes: { "manifests/orders.yaml": orders().replace("name: orders", "name: other").replace("'*email*'", "['*email', 'email*']") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a rule regards the case of names": {
    base: { ...start, "manifests/orders.yaml": orders().replace("column: '*email*'", "column: '*email*', ignoreCase: true") },
    changes: { "manifests/orders.yaml": orders() },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a Classification labels less that comes later": {
    base: {
      ...start,
      "manifests/labels.yaml": labels("'*actor_email*', national_id"),
      "manifests/orders.yaml": orders("    - { id: pii, match: { label: pii }, set: { hashed: true } }\n"),
      "manifests/policy.yaml": undefined,
    },
    changes: { "manifests/labels.yaml": labels("'*actor_email*'") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a literal entry for a column that comes later is gone": {
    base: {
      ...start,
      "manifests/orders.yaml": orders(
        undefined,
        "  missing: ignore\n  schemas: { public: { tables: { users: { columns: { bonus: { hashed: true } } } } } }\n",
      ),
    },
    changes: { "manifests/orders.yaml": orders() },
    found: ["protection-lost-later manifests/orders.yaml manifests/orders.yaml:9@base /"],
  },
  "a policy selects fewer integrations that come later": {
    base: { ...start, "manifests/policy.yaml": policy().replace("enabled: true }", "enabled: true }, integration: { names: ['*'] }") },
    changes: { "manifests/policy.yaml": policy().replace("enabled: true }", "enabled: true }, integration: { names: ['*r*', '*i*'] }") },
    found: ["policy-weakened Policy/pii-hashed manifests/policy.yaml:1@head 0/0"],
  },
  "an integration is named out of a selector": {
    base: {
      ...start,
      "manifests/orders.yaml": orders().replace("integration: { id: 8f1c }", "integrations: { names: [Orders] }"),
      "manifests/integration.yaml": integration("Orders"),
    },
    changes: { "manifests/integration.yaml": integration("Orders EU") },
    found: ["protection-lost-later rule pii manifests/orders.yaml:7@base /"],
  },
  "a SchemaConfig is removed": {
    changes: { "manifests/orders.yaml": undefined },
    found: ["protection-lost rule pii manifests/orders.yaml:7@base 4/", expect.stringMatching(/^released /u) as string],
  },
  "a label is lost that a rule uses": {
    base: {
      ...start,
      "manifests/labels.yaml": labels("email, contact_email"),
      "manifests/orders.yaml": orders("    - { id: pii, match: { label: pii }, set: { hashed: true } }\n"),
    },
    changes: { "manifests/labels.yaml": labels("email") },
    found: ["label-lost label pii manifests/labels.yaml:4@base 1/"],
  },
  "two rows of a CSV file are gone: one entry": {
    base: ofCsv,
    changes: csvRows("orders,contact_email"),
    found: ["label-lost label pii labels.csv:3@base 2/"],
  },
  "a row of a CSV file is gone, and another rule with it": {
    base: {
      ...ofCsv,
      "manifests/orders.yaml": orders(
        "    - { id: pii, match: { label: pii }, set: { hashed: true } }\n    - { id: phone, match: { column: phone }, set: { hashed: true } }\n",
      ),
    },
    changes: { ...csvRows("users,email", "orders,contact_email"), "manifests/orders.yaml": ofCsv["manifests/orders.yaml"] },
    found: ["protection-lost rule phone manifests/orders.yaml:8@base 1/", "label-lost label pii labels.csv:3@base 1/"],
  },
  "a CSV file names its rows in another order": {
    base: ofCsv,
    changes: csvRows("orders,contact_email", "customers,email", "users,email"),
    found: [],
  },
  "meta of a column is gone in dbt": {
    base: byMeta,
    changes: dbtFile({ email: personal, phone: {} }),
    found: ["label-lost label pii manifests/labels.yaml:4@base 1/"],
  },
  "meta of a table takes the place of that of its columns in dbt": {
    base: byMeta,
    changes: dbtFile({ email: personal, phone: personal }, { ...personal, columns: { email: {} } }),
    found: [],
  },
  "a tag of a column is gone in dbt, and meta stays": {
    base: ofDbt("{ tag: personal }"),
    changes: dbtFile({ email: personal, phone: { meta: personal.meta } }),
    found: ["label-lost label pii manifests/labels.yaml:4@base 1/"],
  },
  "a table is gone in dbt": {
    base: byMeta,
    changes: { "dbt/target/manifest.json": dbtManifest({ users: { schema: "ORDERS", columns: { email: personal } } }) },
    found: ["label-lost label pii manifests/labels.yaml:4@base 2/"],
  },
  "a column is renamed in dbt": {
    base: byMeta,
    changes: dbtFile({ e_mail: personal, phone: personal }),
    found: ["label-lost label pii manifests/labels.yaml:4@base 1/"],
  },
  "another database than the one that dbt describes": {
    base: byMeta,
    changes: {
      "manifests/labels.yaml": (byMeta["manifests/labels.yaml"] ?? "").replace("label: pii", "label: pii, database: other"),
    },
    found: ["label-lost label pii manifests/labels.yaml:4@base 3/"],
  },
  "files are not read any more": {
    base: {
      ...start,
      "dimsync.yaml": config().replace("[manifests]", "[manifests, more]"),
      "more/x.yaml": policy().replace("pii-hashed", "other"),
    },
    changes: { "dimsync.yaml": config() },
    found: ["policy-removed Policy/other more/x.yaml:1@base 0/0", "managed-less manifests dimsync.yaml:3@base /"],
  },
  "a file that is broken at the base": {
    broken: { "manifests/broken.yaml": "kind: Nonsense\n" },
    changes: { "manifests/broken.yaml": undefined },
    found: ["unknown manifests/broken.yaml :@base /"],
  },
};

const withDay = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text?.replace("DAY", dayIn(20))]));

describe("a pull request loosens", () => {
  test.each(Object.entries(cases))("%s", async (_, { base = start, broken, changes, found }) => {
    const { texts, plan, stderr } = await review(base, withDay(changes), { broken });
    expect(texts, stderr).toEqual(found);
    expect(plan.exit.code).not.toBe(1);
  });
});

test("a lost label is said once, with the columns and what they lose", async () => {
  const { plan } = await review(ofCsv, csvRows("orders,contact_email"));
  expect(loosenedOf(plan).map(({ message }) => message)).toEqual([
    "2 columns lost it: public.customers.email, public.users.email (labels.csv:3 and 1 more source). Policy/pii-hashed still checks them in this plan, and not after the merge. Rule pii, manifests/orders.yaml:7, does not keep them hashed any more, although nothing is sent now.",
  ]);
});

/** The first apply sends something, so the records know its commit: a plan without a review has the same base. */
const phones = "    - { match: { column: phone }, set: { hashed: true } }\n";
const hashing: Files = { ...start, "manifests/orders.yaml": orders(undefined, phones) };

test.each<readonly [what: string, changes: Files]>([
  ["a rule that hashes more", { "manifests/orders.yaml": orders(undefined, `${phones}${phones.replace("phone", "city")}`) }],
  ["a tag", { "manifests/tag.yaml": tag("  description: personal data\n") }],
  ["a stricter policy", { "manifests/policy.yaml": policy({ name: "'*email*', '*phone*'" }) }],
  ["a policy with another name", { "manifests/policy.yaml": policy().replace("name: pii-hashed", "name: other") }],
  ["a note", { "manifests/orders.yaml": `# Orders of the shop.\n${orders(undefined, phones)}` }],
])("%s gives up nothing, so its review has the words of a plan without one", async (_, changes) => {
  const [reviewed, plan] = [["--base", "main"], []].map((base) => review(hashing, changes, { flags: ["-o", "markdown"], base }));
  // A review says whose changes they are.
  expect((await reviewed)?.stdout.replace(" from this pull request", "")).toBe((await plan)?.stdout);
});

test("what is given up is said in whole sentences", async () => {
  const files = {
    "manifests/policy.yaml": policy({ severity: "warning" }).replace("hashed: true", "enabled: false"),
    "manifests/orders.yaml": orders().replace("'*email*'", "[email, actor_email, contact_email]"),
  };
  const { plan } = await review(start, files);
  expect(loosenedOf(plan).map(({ message }) => message)).toEqual([
    "Severity error at the base, warning now. It required hashed: true, and does not any more. 3 columns that it checked are checked by no policy of this severity any more.",
    "A later column such as xemail would not be hashed by it any more.",
  ]);
});

test.each([
  [exemption(dayIn(100)), "public.users.email of every integration"],
  [exemption(dayIn(100)).replace("table: users, column: email", "integration: Orders"), "public.*.* of Orders"],
])("an exemption says what it covers, and how long", async (more, scope) => {
  const { plan } = await review(start, { "manifests/policy.yaml": policy({ more }) });
  expect(loosenedOf(plan)[0]?.message).toContain(`, until ${dayIn(100)}, for ${scope}.`);
});

test("a resource that a tag does not list any more has its name in the account", async () => {
  const { plan } = await review(
    { ...start, "manifests/tag.yaml": tag("  taggedBy: u-3\n  resources: [{ integration: { id: 8f1c } }]\n") },
    { "manifests/tag.yaml": tag("  taggedBy: u-3\n") },
  );
  expect(plan.findings.flatMap(({ rule, address, message }) => (rule === "released" ? [[address, message]] : []))).toEqual([
    ["Tag/pii#8f1c", "The manifest does not list Orders any more. dimsync sends nothing; it keeps the tag."],
  ]);
});

const guardsOf = (plan: Plan): readonly string[] =>
  guardFindings(plan).map(({ rule, guard: { limit, actual, allowed } }) =>
    [rule, `${actual}/${limit}`, ...(allowed === undefined ? [] : ["lifted"])].join(" "),
  );
const exposing: Files = { "manifests/orders.yaml": orders().replace("hashed: true", "hashed: false"), "manifests/policy.yaml": undefined };
const refusing = config("review: strict\n").replace("maxExposedColumns: 2", "maxExposedColumns: 100");

describe("the guard", () => {
  test.each<[string, Files, Files, readonly string[], readonly string[]]>([
    [
      "that a pull request raises still has the limit of the base",
      start,
      { ...exposing, "dimsync.yaml": config().replace("maxExposedColumns: 2", "maxExposedColumns: 1000") },
      [],
      ["maxExposedColumns 3/2"],
    ],
    ["loosened refuses", { ...start, "dimsync.yaml": refusing }, { "manifests/policy.yaml": undefined }, [], ["loosened 1/0"]],
    [
      "loosened refuses although the pull request makes the review less strict",
      { ...start, "dimsync.yaml": refusing },
      { "dimsync.yaml": config().replace("maxExposedColumns: 2", "maxExposedColumns: 100") },
      [],
      ["loosened 1/0"],
    ],
    [
      "loosened is not lifted by an entry of the pull request itself",
      { ...start, "dimsync.yaml": refusing },
      { "dimsync.yaml": `${refusing}allow: [{ guard: loosened, reason: mine, until: DAY }]\n` },
      [],
      ["loosened 1/0"],
    ],
    [
      "loosened is lifted by an entry of the base",
      { ...start, "dimsync.yaml": `${refusing}allow: [{ guard: loosened, reason: agreed, until: DAY }]\n` },
      { "manifests/policy.yaml": undefined },
      [],
      ["loosened 1/0 lifted"],
    ],
    [
      "loosened is lifted by --allow",
      { ...start, "dimsync.yaml": refusing },
      { "manifests/policy.yaml": undefined },
      ["--allow", "loosened=agreed"],
      ["loosened 1/0 lifted"],
    ],
  ])("%s", async (_, base, changes, flags, found) => {
    const { plan } = await review(withDay(base), withDay(changes), { flags });
    expect(guardsOf(plan)).toEqual(found);
  });

  test("what is loosened comes first in a terminal, before the changes", async () => {
    const { stdout } = await review(start, exposing, { flags: ["-o", "human"] });
    expect(stdout).toMatch(/^default [^\n]*\n(?:[^\n]+\n)*\nThis pull request also loosens/u);
    expect(stdout.indexOf("also loosens")).toBeLessThan(stdout.indexOf("unhash (exposes)"));
  });

  test.each([
    ["github", /^::warning title=policy-removed%3A The manifests loosen a rule::Policy\/pii-hashed: It is gone\./mu],
    ["html", /<h2[^>]*>This pull request also loosens.*policy-removed/su],
  ])("what is loosened is in %s", async (format, found) => {
    expect((await review(start, exposing, { flags: ["-o", format] })).stdout).toMatch(found);
  });

  test("--fail-on loosened makes the exit code 2", async () => {
    const { code } = await review(start, { "manifests/policy.yaml": undefined }, { flags: ["--fail-on", "loosened"] });
    expect(code).toBe(2);
  });
});

describe("removing something", () => {
  const clear = "    - { id: rest, match: { column: '*' }, set: { hashed: false } }\n";
  const pii = "    - { id: pii, match: { column: '*email*' }, set: { hashed: true } }\n";
  const byLabel = "    - { id: pii, match: { label: pii }, set: { hashed: true } }\n";
  const removedIn = (made: Plan): readonly string[] =>
    readySteps(made).flatMap(({ changes }) =>
      changes.map(({ removed, cause, risk }) =>
        `${risk} ${cause?.rule} ${removed === undefined ? "" : `${removed.rule} ${removed.file}:${removed.line}`}`.trim(),
      ),
    );
  const base = {
    ...start,
    "dimsync.yaml": config().replace("2 }", "100 }"),
    "manifests/policy.yaml": undefined,
    "manifests/orders.yaml": orders(clear + pii),
  };

  test.each<[string, Files, Files, readonly string[], readonly string[]]>([
    [
      "a rule, so that an older one decides, is never without a refusal",
      base,
      { "manifests/orders.yaml": orders(clear) },
      ["exposes rest pii manifests/orders.yaml:8"],
      ["maxExposedColumns 4/0"],
    ],
    [
      "a rule, with a new one that says so, is a change like others",
      base,
      { "manifests/orders.yaml": orders(`${clear}    - { id: open, match: { column: '*email*' }, set: { hashed: false } }\n`) },
      ["exposes open"],
      [],
    ],
    [
      "a label, so that a less specific rule decides, is refused",
      { ...base, "manifests/orders.yaml": orders(clear + byLabel), "manifests/labels.yaml": labels("'*email*'") },
      { "manifests/labels.yaml": labels("email") },
      ["exposes rest pii manifests/orders.yaml:8"],
      ["maxExposedColumns 2/0"],
    ],
  ])("%s", async (_, before, changes, removed, guards) => {
    const { plan } = await review(before, changes);
    expect(removedIn(plan)).toEqual(removed);
    expect(guardsOf(plan)).toEqual(guards);
  });

  test("a rule that matches by several labels names the label of each column", async () => {
    const two = labels("email").replace("] } }] }", "] } }, { label: contact, match: { column: [contact_email] } }] }");
    const rule = "    - { id: pii, match: { label: [pii, contact] }, set: { hashed: true } }\n";
    const { plan } = await review(
      { ...base, "manifests/labels.yaml": two, "manifests/orders.yaml": orders(clear + rule) },
      { "manifests/orders.yaml": orders(clear) },
    );
    const removed = readySteps(plan).flatMap((item) =>
      [...eachChange(item)].map(({ path, removed: by }) => [path.split("/").at(-2), by?.label?.name]),
    );
    expect(new Set(removed.map((one) => one.join(" ")))).toEqual(new Set(["email pii", "contact_email contact"]));
  });

  test("a policy that uses a label still covers the columns that lose it", async () => {
    const before = {
      ...base,
      "manifests/labels.yaml": labels("'*email*'"),
      "manifests/policy.yaml": policy().replace("name: ['*email*']", "label: pii"),
    };
    const changes = {
      "manifests/labels.yaml": labels("phone"),
      "manifests/orders.yaml": orders(`${clear}    - { id: open, match: { schema: public, column: '*' }, set: { hashed: false } }\n`),
    };
    const { plan } = await review(before, changes);
    expect(
      policyFindings(plan)
        .map(({ state }) => state)
        .sort(),
    ).toEqual(["existing", "new", "new", "new"]);
    expect(guardsOf(plan)).toEqual(["policy 3/0"]);
  });
});
