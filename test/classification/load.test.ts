import { describe, expect, test } from "vitest";
import { config, headings, load, manifest } from "../manifests/project-on-disk.ts";

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
    const { labels, problems } = await project({ "m/shops.yaml": rules("pii") });
    expect(problems).toEqual([]);
    expect(labels?.defined).toEqual(["pii"]);
    expect(labels?.patterns.map(({ origin }) => [origin.text, origin.reason, origin.place.pointer])).toEqual([
      ["Classification/personal", "DPIA-41", "/spec/labels/0"],
    ]);
  });

  test("are absent without one", async () => {
    expect((await load({ "dimsync.yaml": config() })).labels).toBeUndefined();
  });

  test.each<[string, string, string, string]>([
    ["a rule", rules("pij"), "m/user.yaml:6:29 E_UNKNOWN_LABEL", " Did you mean pii?"],
    ["a list of a rule", rules("[pii, secret]"), "m/user.yaml:6:35 E_UNKNOWN_LABEL", ""],
    [
      "an expect entry",
      manifest("SchemaConfig", "shops", "spec:", "  integration: { id: i1 }", "  expect: [{ match: { label: x }, isPrimaryKey: true }]"),
      "m/user.yaml:6:30 E_UNKNOWN_LABEL",
      "",
    ],
    [
      "a rule of a RuleSet",
      manifest("RuleSet", "r", "spec: { rules: [{ match: { label: x }, ignore: true }] }"),
      "m/user.yaml:4:35 E_UNKNOWN_LABEL",
      "",
    ],
    [
      "a policy",
      manifest("Policy", "p", "spec: { severity: error, message: m, require: { hashed: true }, when: { column: { label: x } } }"),
      "m/user.yaml:4:90 E_UNKNOWN_LABEL",
      "",
    ],
  ])("that %s matches must be defined", async (_, user, heading, hint) => {
    const { diagnostics } = await project({ "m/user.yaml": user });
    expect(headings(diagnostics)).toEqual([heading]);
    expect(diagnostics[0]?.message).toMatch(new RegExp(`which no Classification defines\\.${hint.replace("?", "\\?")}$`, "u"));
  });

  test("that a rule matches are an error without any Classification too", async () => {
    const { diagnostics } = await load({ "dimsync.yaml": config("manifests: [m]"), "m/shops.yaml": rules("pii") });
    expect(headings(diagnostics)).toEqual(["m/shops.yaml:6:29 E_UNKNOWN_LABEL"]);
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
