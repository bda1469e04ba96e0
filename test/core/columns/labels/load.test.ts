// The labels of a project are those of its Classifications and of the files that they name.
import { describe, expect, test } from "vitest";
import { config, headings, load, manifest } from "../../manifests/project-on-disk.ts";
import { dbtManifest } from "./dbt-manifest.ts";

const personal = manifest(
  "Classification",
  "personal",
  "spec:",
  "  labels:",
  '    - { label: pii, match: { column: "*email*" }, reason: DPIA-41 }',
);
const rules = (label: string): string =>
  manifest(
    "SchemaConfig",
    "shops",
    "spec:",
    "  integration: { id: i1 }",
    `  rules: [{ match: { label: ${label} }, set: { hashed: true } }]`,
  );
const project = (files: Readonly<Record<string, string>>) =>
  load({ "dimsync.yaml": config("manifests: [m]"), "m/personal.yaml": personal, ...files });

describe("labels of a project", () => {
  test("are those of its Classifications", async () => {
    const { columnLabels, problems } = await project({ "m/shops.yaml": rules("pii") });
    expect(problems).toEqual([]);
    expect(columnLabels?.defined).toEqual(["pii"]);
    expect(columnLabels?.patterns.map(({ origin }) => [origin.text, origin.reason, origin.place.pointer])).toEqual([
      ["Classification/personal", "DPIA-41", "/spec/labels/0"],
    ]);
  });

  test.each([
    ["a label that rules match", "pii", "PII", ["m/personal.yaml:6:7 W_NO_MATCH"]],
    ["the label itself", "PII", "PII", []],
  ])("that differ only in case from %s are named", async (_, matched, label, expected) => {
    const other = personal.replace("labels:", `labels:\n    - { label: ${label}, match: { column: phone } }`);
    const both = `${other}\n    - { label: ${matched}, match: { column: ip } }\n`;
    const { diagnostics } = await project({
      "m/personal.yaml": both.replace('label: pii, match: { column: "*email*" }', `label: ${matched}, match: { column: "*email*" }`),
      "m/shops.yaml": rules(matched),
    });
    expect(headings(diagnostics)).toEqual(expected);
  });

  test("are absent without one", async () => {
    expect((await load({ "dimsync.yaml": config() })).columnLabels).toBeUndefined();
  });

  test.each<[string, string, string, string]>([
    ["a rule", rules("pij"), "m/user.yaml:6:29 E_UNKNOWN_REFERENCE", " Did you mean pii?"],
    ["a list of a rule", rules("[pii, secret]"), "m/user.yaml:6:35 E_UNKNOWN_REFERENCE", ""],
    [
      "an expect entry",
      manifest("SchemaConfig", "shops", "spec:", "  integration: { id: i1 }", "  expect: [{ match: { label: x }, isPrimaryKey: true }]"),
      "m/user.yaml:6:30 E_UNKNOWN_REFERENCE",
      "",
    ],
    [
      "a rule of a RuleSet",
      manifest("RuleSet", "r", "spec: { rules: [{ match: { label: x }, ignore: true }] }"),
      "m/user.yaml:4:35 E_UNKNOWN_REFERENCE",
      "",
    ],
    [
      "a policy",
      manifest("Policy", "p", "spec: { severity: error, message: m, require: { hashed: true }, when: { column: { label: x } } }"),
      "m/user.yaml:4:90 E_UNKNOWN_REFERENCE",
      "",
    ],
  ])("that %s matches must be defined", async (_, user, heading, hint) => {
    const found = (await project({ "m/user.yaml": user })).diagnostics;
    const diagnostics = found.filter(({ severity }) => severity === "error");
    expect(headings(diagnostics)).toEqual([heading]);
    expect(diagnostics[0]?.message).toMatch(new RegExp(`which no Classification defines\\.${hint.replace("?", "\\?")}$`, "u"));
  });

  test("that a rule matches are an error without any Classification too", async () => {
    const { diagnostics } = await load({ "dimsync.yaml": config("manifests: [m]"), "m/shops.yaml": rules("pii") });
    expect(headings(diagnostics)).toEqual(["m/shops.yaml:6:29 E_UNKNOWN_REFERENCE"]);
  });
});

describe("files that a Classification names", () => {
  const from = (...entries: readonly string[]): string =>
    manifest("Classification", "files", "spec:", "  from:", ...entries.map((one) => `    - ${one}`));
  const dbt = "{ dbt: { manifest: dbt/manifest.json, label: pii, where: { meta: { contains_pii: true } } } }";
  const csv = "{ csv: { file: register.csv } }";
  const tables = { customers: { columns: { email: { meta: { contains_pii: true } } } } };
  const files = (more: Readonly<Record<string, string>>) => load({ "dimsync.yaml": config("manifests: [m]"), ...more });

  test("label columns; their paths are relative to dimsync.yaml", async () => {
    const { columnLabels, problems, sourceFiles, folder } = await files({
      "m/c.yaml": from(dbt, csv),
      "dbt/manifest.json": dbtManifest(tables),
      "register.csv": "schema,table,column,label\npublic,users,name,secret\n",
    });
    expect(problems).toEqual([]);
    expect(columnLabels?.defined).toEqual(["pii", "secret"]);
    expect(columnLabels?.columns.map(({ side, column, origin }) => `${side} ${column} ← ${origin.text}`)).toEqual([
      "destination email ← models/sources.yml, source shop.customers.email, meta.contains_pii",
      "source name ← register.csv:2",
    ]);
    // dbt writes its manifest and git ignores it, so that it can't make the tree dirty.
    expect(sourceFiles.files.filter((file) => /csv|json/u.test(file))).toEqual([`${folder}/register.csv`]);
  });

  test("belong to the digest of the manifests by what they label", async () => {
    const digest = async (text: string) => (await files({ "m/c.yaml": from(dbt), "dbt/manifest.json": text })).manifestDigest();
    const later = dbtManifest(tables).replace("2026-11-01", "2026-11-02");
    const other = dbtManifest({ users: tables.customers });
    expect(await digest(later)).toBe(await digest(dbtManifest(tables)));
    expect(await digest(other)).not.toBe(await digest(dbtManifest(tables)));
  });

  test.each<[string, Readonly<Record<string, string>>, string, RegExp]>([
    [
      "a dbt manifest that does not exist",
      { "m/c.yaml": from(dbt) },
      "m/c.yaml:6:26 E_DBT_MANIFEST",
      /^dbt\/manifest\.json does not exist\./u,
    ],
    ["one that is truncated", { "m/c.yaml": from(dbt), "dbt/manifest.json": "{" }, "m/c.yaml:6:26 E_DBT_MANIFEST", /is not complete JSON/u],
    ["a CSV file that does not exist", { "m/c.yaml": from(csv) }, "m/c.yaml:6:22 E_LABEL_CSV", /^register\.csv does not exist\./u],
    [
      "a CSV file outside the project",
      { "m/c.yaml": from(csv.replace("register.csv", "/etc/passwd")) },
      "m/c.yaml:6:22 E_PATH_OUTSIDE",
      /^\/etc\/passwd is not in /u,
    ],
    [
      "a row without a label, at its line",
      { "m/c.yaml": from(csv), "register.csv": "schema,table,column,label\na,b,c,\n" },
      "register.csv:2:1 E_LABEL_CSV",
      /^register\.csv:2 has no label\./u,
    ],
  ])("are refused: %s", async (_, given, heading, message) => {
    const { diagnostics } = await files({ ...given, "m/shops.yaml": rules("pii") });
    expect(headings(diagnostics)).toEqual([heading]);
    expect(diagnostics[0]?.message).toMatch(message);
    expect(diagnostics[0]?.command).toBe(heading.includes("DBT") ? "dbt parse" : undefined);
  });

  test("get a warning if they label nothing", async () => {
    const { diagnostics } = await files({
      "m/c.yaml": from(dbt),
      "dbt/manifest.json": dbtManifest({ customers: { columns: { id: {} } } }),
    });
    expect(headings(diagnostics)).toEqual(["m/c.yaml:6:64 W_NO_MATCH"]);
  });
});

describe("a Classification is refused", () => {
  test.each<[string, string, string]>([
    ["without labels and sources", "spec: {}", "m/c.yaml:4:1 E_WRONG_VALUE"],
    ["with a match that names nothing", "spec: { labels: [{ label: pii, match: { ignoreCase: true } }] }", "m/c.yaml:4:32 E_MISSING_KEY"],
    [
      "with two files in one entry",
      "spec: { from: [{ csv: { file: a.csv }, dbt: { manifest: m.json, labelFrom: meta.x } }] }",
      "m/c.yaml:4:16 E_WRONG_VALUE",
    ],
    ["with a label but no condition", "spec: { from: [{ dbt: { manifest: m.json, label: pii } }] }", "m/c.yaml:4:18 E_MISSING_KEY"],
    ["with an unknown key", "spec: { labels: [{ label: pii, match: { columns: x } }] }", "m/c.yaml:4:41 E_UNKNOWN_KEY"],
  ])("%s", async (_, spec, heading) => {
    const { diagnostics } = await load({ "dimsync.yaml": config("manifests: [m]"), "m/c.yaml": manifest("Classification", "c", spec) });
    expect(headings(diagnostics)).toContain(heading);
  });
});
