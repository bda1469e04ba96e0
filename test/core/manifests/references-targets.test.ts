// A manifest of other targets does not exist in this one.
import { expect, test } from "vitest";
import { config, headings, load } from "./project-on-disk.ts";

const of = (kind: string, name: string, metadata: string, spec = "{}"): string =>
  `apiVersion: dimsync/v1\nkind: ${kind}\nmetadata: { name: ${name}${metadata} }\nspec: ${spec}\n`;
const project = (...documents: readonly string[]) => ({
  "dimsync.yaml": config("manifests: [m.yaml]", "targets: { prod: {}, dev: {} }"),
  "m.yaml": documents.join("---\n"),
});
const problemsIn = async (target: string, ...documents: readonly string[]): Promise<readonly string[]> =>
  headings((await load(project(...documents), { target })).diagnostics).map((heading) => heading.replace("m.yaml:", ""));
const onlyProd = ", targets: [prod]";

test("a manifest of other targets does not exist in this one, and its variables need no value", async () => {
  const files = project(
    of("Integration", "orders", ', targets: [prod], id: "1"', `{ match: { name: "${"$"}{var.unset}" } }`),
    of("Integration", "orders", ", targets: [dev]"),
  );
  const { manifests, elsewhere, diagnostics } = await load(files, { target: "dev" });
  expect(manifests).toMatchObject([{ address: "Integration/orders", targets: ["dev"], id: undefined }]);
  expect(elsewhere).toMatchObject([{ address: "Integration/orders", targets: ["prod"], place: { file: "m.yaml", document: 0 } }]);
  expect(headings(diagnostics)).toEqual([]);
});

test.each([
  ["prod", "8f1c"],
  ["dev", undefined],
])("a map of ids pins the id of target %s", async (target, id) => {
  const { manifests } = await load(project(of("Tag", "pii", ", id: { prod: 8f1c }", "{ name: PII }")), { target });
  expect(manifests.map((manifest) => manifest.id)).toEqual([id]);
});

test.each<readonly [why: string, at: readonly string[], documents: readonly string[]]>([
  ["a target that does not exist", ["3:32 E_UNKNOWN_TARGET"], [of("Integration", "o", ", targets: [prdo]")]],
  ["an id of a target that does not exist", ["3:28 E_UNKNOWN_TARGET"], [of("Integration", "o", ', id: { prdo: "1" }')]],
  ["an empty list of targets", ["3:31 E_WRONG_VALUE"], [of("Policy", "p", ", targets: []", "{ message: m, severity: error }")]],
  ["an id that is a number", ["3:26 E_WRONG_TYPE"], [of("Integration", "o", ", id: 12")]],
  ["an id of one target that is a number", ["3:33 E_WRONG_TYPE"], [of("Integration", "o", ", id: { dev: 12 }")]],
  [
    "two manifests of one name in one target",
    ["8:19 E_DUPLICATE_NAME"],
    [of("Asset", "a", "", "{ name: a }"), of("Asset", "a", ", targets: [dev]", "{ name: a }")],
  ],
  [
    "a reference to a manifest that is not in this target",
    ["9:31 E_UNKNOWN_REFERENCE"],
    [of("Asset", "a", onlyProd, "{ name: a }"), of("Integration", "o", "", "{ destination: { asset: a } }")],
  ],
  [
    "rules for an integration that is not in this target",
    ["9:22 E_UNKNOWN_REFERENCE"],
    [of("Integration", "o", onlyProd), of("SchemaConfig", "o", "", "{ integration: o }")],
  ],
  [
    "nothing about a tag on an integration that is not in this target",
    [],
    [of("Integration", "o", onlyProd), of("Tag", "t", "", "{ name: T, resources: [{ integration: o }] }")],
  ],
])("%s", async (_why, at, documents) => {
  expect(await problemsIn("dev", ...documents)).toEqual(at);
});

test("the message of a reference says where the manifest is and what to do", async () => {
  const documents = [of("Asset", "a", onlyProd, "{ name: a }"), of("Integration", "o", "", "{ destination: { asset: a } }")];
  const { problems } = await load(project(...documents), { target: "dev" });
  expect(problems.map(({ message }) => message)).toEqual([
    "Integration/o refers to Asset/a, which is only in target prod (m.yaml:3). Add this target to its metadata.targets, or set metadata.targets: [prod] in Integration/o, too.",
  ]);
});
