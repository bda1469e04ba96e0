// A variable is a value, never a key, a secret or what decides what is protected.
import { describe, expect, test } from "vitest";
import type { LoadOptions } from "../../../../src/core/manifests/project.ts";
import { config, headings, load as loadAll, manifest, resource } from "../project-on-disk.ts";

const asset = (...connection: readonly string[]) =>
  manifest("Asset", "a", "spec:", "  name: A", "  connection:", ...connection.map((line) => `    ${line}`));
const connectionOf = async (files: Readonly<Record<string, string>>, options: Partial<LoadOptions> = {}) => {
  const project = await load(files, { ...options });
  expect(project.diagnostics).toEqual([]);
  return (resource(project, "Asset/a").spec as { readonly connection: unknown }).connection;
};

/** These projects declare more variables than each test uses. */
const load = async (...options: Parameters<typeof loadAll>) => {
  const project = await loadAll(...options);
  return { ...project, diagnostics: project.diagnostics.filter(({ code }) => code !== "W_UNUSED") };
};

describe("a reference becomes", () => {
  const vars =
    "vars: { text: t, number: 4, flag: true, none: null, list: [1, b], map: { c: d }, key: { $secret: { env: K } }, 'with-dash.dot': w }";
  const rows: Readonly<Record<string, readonly [written: string, value: unknown]>> = {
    "a whole scalar keeps the variable's type: text": [`\${var.text}`, "t"],
    "a number": [`\${var.number}`, 4],
    "true and false": [`\${var.flag}`, true],
    nothing: [`\${var.none}`, null],
    "a list": [`\${var.list}`, [1, "b"]],
    "a map": [`\${var.map}`, { c: "d" }],
    "a secret, as a reference": [`\${var.key}`, { $secret: { env: "K" } }],
    "quotes make no difference": [`"\${var.number}"`, 4],
    "part of a text": [`a-\${var.text}-\${var.number}-\${var.flag}`, "a-t-4-true"],
    "a name with a hyphen and a dot": [`\${var.with-dash.dot}`, "w"],
    "a string from the environment": [`\${var.N}`, "5"],
    "an empty variable is an empty text": [`x\${var.EMPTY}y`, "xy"],
    "the value of a variable is not substituted again": [`\${var.NESTED}`, `\${var.text}`],
    "a doubled dollar is a literal": [`$\${var.text}`, `\${var.text}`],
    "two dollars before a literal": [`$$\${var.text}`, `$\${var.text}`],
    "a dollar alone": ["a$b $x", "a$b $x"],
    "braces alone": ["'{var.text}'", "{var.text}"],
    "in a block": [`|-\n      a\n      \${var.text}`, "a\nt"],
  };
  test.each(Object.entries(rows))("%s", async (_name, [written, value]) => {
    const files = { "dimsync.yaml": config(vars), "a.yaml": asset(`x: ${written}`) };
    expect(await connectionOf(files, { env: { DIMSYNC_VAR_N: "5", DIMSYNC_VAR_EMPTY: "", DIMSYNC_VAR_NESTED: `\${var.text}` } })).toEqual({
      x: value,
    });
  });
  test("keys are never changed, and names like __proto__ are kept", async () => {
    const key = `\${var.text}`;
    const found = await connectionOf(
      { "a.yaml": asset(`"${key}": a`, `__proto__: "\${var.N}"`, `constructor: { x: "\${var.N}" }`) },
      { vars: { N: "5" } },
    );
    expect(Object.entries(found as object)).toEqual([
      [key, "a"],
      ["__proto__", "5"],
      ["constructor", { x: "5" }],
    ]);
  });
  test("inside the source of a secret", async () => {
    const lines = [`x: { $secret: { env: "\${var.p}_KEY" } }`, `y: { $secret: { file: "\${var.p}.txt" } }`];
    expect(await connectionOf({ "a.yaml": asset(...lines) }, { vars: { p: "PROD" } })).toEqual({
      x: { $secret: { env: "PROD_KEY" } },
      y: { $secret: { file: "PROD.txt" } },
    });
  });
  test.each([
    ["a map", `x\${var.map}`],
    ["a list", `x\${var.list}`],
    ["a secret", `x\${var.key}`],
    ["nothing", `x\${var.none}`],
  ])("%s can't be part of a text", async (_name, written) => {
    const { diagnostics } = await load({ "dimsync.yaml": config(vars), "a.yaml": asset(`x: ${written}`) });
    expect(headings(diagnostics)).toEqual(["a.yaml:7:8 E_WRONG_TYPE"]);
  });
  test.each(["constructor", "__proto__", "toString"])("%s is not a variable unless one has that name", async (name) => {
    const { diagnostics } = await load({ "a.yaml": asset(`x: "\${var.${name}}"`) });
    expect(diagnostics.map(({ code }) => code)).toEqual(["E_WRONG_SUBSTITUTION"]);
  });
});

describe("where the schema requires a number or a boolean", () => {
  const tag = manifest("Tag", "t", `spec: { name: T, exclusive: "\${var.on}" }`);
  const versioned = manifest("Asset", "a", "spec:", "  name: A", `  secretVersion: \${var.version}`);
  const files = { "t.yaml": tag, "a.yaml": versioned };
  test("a value of vars or a file has the type that YAML gives it", async () => {
    const project = await load(
      { ...files, "dimsync.yaml": config("vars: { on: false }"), "v.vars": "version: 4\n" },
      { varFiles: ["v.vars"] },
    );
    expect(project.diagnostics).toEqual([]);
    expect(resource(project, "Tag/t").spec).toMatchObject({ exclusive: false });
    expect(resource(project, "Asset/a").spec).toMatchObject({ secretVersion: 4 });
  });
  test.each([
    ["a flag", { vars: { on: "false", version: "4" } }],
    ["the environment", { env: { DIMSYNC_VAR_on: "false", DIMSYNC_VAR_version: "4" } }],
  ])("a value of %s is a string, and the message says where to put it", async (_name, options) => {
    const { diagnostics } = await load(files, options);
    expect(diagnostics.map(({ file, code }) => `${file} ${code}`).sort()).toEqual(["a.yaml E_WRONG_TYPE", "t.yaml E_WRONG_TYPE"]);
    for (const { message } of diagnostics) expect(message).toContain("Put the variable in `vars` of dimsync.yaml or in a --var-file");
  });
  test("a literal in quotes has a hint of its own", async () => {
    const { diagnostics } = await load({ "t.yaml": tag.replace(/\$\{var\.on\}/u, "false") });
    expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining("write false without quotes")]);
  });
});

describe("a variable cannot decide what is protected:", () => {
  const vars = { b: "true", n: "5", t: "a" };
  const rule = (text: string) => manifest("SchemaConfig", "s", "spec:", "  integration: { id: x }", `  rules: [${text}]`);
  const refused: Readonly<Record<string, readonly [text: string, at: string]>> = {
    "hashed in a rule": [rule(`{ match: { column: a }, set: { hashed: "\${var.b}" } }`), "m.yaml:6:50"],
    "a part of a pattern": [rule(`{ match: { column: "*email*\${var.t}" }, set: { hashed: false } }`), "m.yaml:6:30"],
    "a rule": [rule(`"\${var.t}"`), "m.yaml:6:11"],
    "all of a spec": [manifest("RuleSet", "r", `spec: "\${var.t}"`), "m.yaml:4:7"],
    "a literal value": [
      manifest("SchemaConfig", "s", "spec:", "  integration: { id: x }", `  schemas: { a: { enabled: "\${var.b}" } }`),
      "m.yaml:6:28",
    ],
    "the severity of a policy": [
      manifest("Policy", "p", `spec: { severity: "\${var.t}", when: { column: {} }, require: { hashed: true }, message: m }`),
      "m.yaml:4:19",
    ],
    "the reason of an exemption": [
      manifest(
        "Policy",
        "p",
        "spec:",
        "  { severity: error, when: { column: {} }, require: { hashed: true }, message: m,",
        `    exemptions: [{ integration: a, expires: 2026-12-31, reason: "\${var.t}" }] }`,
      ),
      "m.yaml:6:65",
    ],
    "the pattern of a label": [
      manifest("Classification", "c", `spec: { labels: [{ label: pii, match: { column: "\${var.t}" } }] }`),
      "m.yaml:4:49",
    ],
    "labels, which selectors use": [
      `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: t, labels: { a: "\${var.t}" } }\nspec: { name: T }\n`,
      "m.yaml:3:35",
    ],
    "whether data is replicated": [manifest("Integration", "i", `spec: { create: "\${var.t}" }`), "m.yaml:4:17"],
  };
  test.each(Object.entries(refused))("%s", async (_name, [text, at]) => {
    const { diagnostics } = await load({ "m.yaml": text }, { paths: ["m.yaml"], vars });
    expect(headings(diagnostics)).toContain(`${at} E_VARIABLE_NOT_ALLOWED`);
  });
  test.each([
    ["a guard", `guards: { maxExposedColumns: "\${var.n}" }`, "dimsync.yaml:3:30"],
    ["a target", `targets: { a: "\${var.t}" }`, "dimsync.yaml:3:15"],
    ["whether a target is protected", `targets: { a: { protected: "\${var.b}" } }`, "dimsync.yaml:3:28"],
    ["what a review refuses", `review: "\${var.t}"`, "dimsync.yaml:3:9"],
    ["an allow entry", `allow: [{ guard: policy, reason: "\${var.t}", until: 2026-12-01 }]`, "dimsync.yaml:3:34"],
  ])("%s", async (_name, line, at) => {
    const { diagnostics } = await load({ "dimsync.yaml": config(line), "a.yaml": asset("x: 1") }, { vars });
    expect(headings(diagnostics)).toContain(`${at} E_VARIABLE_NOT_ALLOWED`);
  });
  test("but the integration of a SchemaConfig, reasons and messages, and literal text with ${ are fine", async () => {
    const { diagnostics } = await load({
      "dimsync.yaml": config("vars: { t: a }"),
      "a.yaml": rule(`{ match: { column: "$\${a" }, set: { hashed: true }, reason: "\${var.t}" }`).replace(
        "{ id: x }",
        `{ id: "\${var.t}" }`,
      ),
    });
    expect(diagnostics).toEqual([]);
  });
});

describe("flag > environment > file > target > config", () => {
  const files = {
    "dimsync.yaml": config(
      "vars: { a: config, b: config, c: config, d: config, e: config, f: config }",
      "targets: { t: { vars: { b: target, c: target, d: target, e: target, f: target } } }",
    ),
    "1.vars": "c: first\nd: first\ne: first\nf: first\n",
    "2.vars": '{ "d": "second", "e": "second", "f": "second" }',
    "a.yaml": asset(...["a", "b", "c", "d", "e", "f"].map((name) => `${name}: "\${var.${name}}"`)),
  };
  test("each source", async () => {
    const found = await connectionOf(files, {
      varFiles: ["1.vars", "2.vars"],
      env: { DIMSYNC_VAR_e: "environment", DIMSYNC_VAR_f: "environment" },
      vars: { f: "flag" },
    });
    expect(found).toEqual({ a: "config", b: "target", c: "first", d: "second", e: "environment", f: "flag" });
  });
  test("a file of variables is never read as a manifest, and may use variables of flags", async () => {
    const found = await connectionOf(
      { "v.yaml": `x: "\${var.X}"\n`, "a.yaml": asset(`x: \${var.x}`) },
      { varFiles: ["v.yaml"], vars: { X: "e" } },
    );
    expect(found).toEqual({ x: "e" });
  });
  const broken: Readonly<Record<string, readonly [text: string | undefined, at: string]>> = {
    "a file that does not exist": [undefined, "v.yaml E_PATH_NOT_FOUND"],
    "a list": ["- a\n", "v.yaml:1:1 E_WRONG_TYPE"],
    "two documents": ["a: 1\n---\nb: 2\n", "v.yaml:1:1 E_WRONG_TYPE"],
    "no YAML": ["a: b: c\n", "v.yaml:1:4 E_YAML_SYNTAX"],
    "a secret": ["db_password: hunter2\n", "v.yaml:1:14 E_LITERAL_SECRET"],
  };
  test.each(Object.entries(broken))("a file of variables that is %s", async (_name, [text, at]) => {
    const { diagnostics } = await load(
      { "a.yaml": asset("x: 1"), ...(text === undefined ? {} : { "v.yaml": text }) },
      { varFiles: ["v.yaml"], paths: ["a.yaml"] },
    );
    expect(headings(diagnostics)).toEqual([at]);
    expect(JSON.stringify(diagnostics)).not.toContain("hunter2");
  });
});

// A name that is written and that nothing has (promise N).
describe("a variable that nothing uses", () => {
  const used = asset(`x: "\${var.frequency}"`);
  const typo = { frequency: "60" };
  test.each<[string, Parameters<typeof loadAll>[0], Parameters<typeof loadAll>[1], readonly string[]]>([
    [
      "of --var is an error",
      { "dimsync.yaml": config("manifests: [m]", "vars: { frequency: a }"), "m/a.yaml": used },
      { vars: { frequnecy: "5" } },
      [" E_UNKNOWN_REFERENCE"],
    ],
    [
      "of the config or the target is a warning",
      {
        "dimsync.yaml": config("manifests: [m]", "vars: { frequency: a, other: b }", "targets: { prod: { vars: { frequncy: c } } }"),
        "m/a.yaml": used,
      },
      {},
      ["dimsync.yaml:5:28 W_UNUSED", "dimsync.yaml:4:23 W_UNUSED"],
    ],
    [
      "of a variable file is a warning",
      { "dimsync.yaml": config("manifests: [m]"), "m/a.yaml": used, "v.yaml": "frequency: a\nfrequencyy: b\n" },
      { varFiles: ["v.yaml"] },
      ["v.yaml:2:1 W_UNUSED"],
    ],
    [
      "of the environment is silent",
      { "dimsync.yaml": config("manifests: [m]"), "m/a.yaml": used },
      { vars: typo, env: { DIMSYNC_VAR_frequnecy: "5" } },
      [],
    ],
    [
      "is not known if only some files are read",
      { "dimsync.yaml": config("manifests: [m]"), "m/a.yaml": used, "b.yaml": asset("x: y") },
      { paths: ["b.yaml"], vars: typo },
      [],
    ],
    [
      "is used in the config",
      { "dimsync.yaml": config("manifests: [m]", `bindings: "\${var.file}"`), "m/a.yaml": asset("x: y") },
      { vars: { file: "b.yaml" } },
      [],
    ],
  ])("%s", async (_, files, options, expected) => {
    const { diagnostics } = await loadAll(files, options);
    expect(diagnostics.map((one) => (one.file === undefined ? ` ${one.code}` : headings([one])[0]))).toEqual(expected);
    for (const { message } of diagnostics) if (message.includes("freq")) expect(message).toContain("Did you mean frequency?");
  });
});
