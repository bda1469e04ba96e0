// Whoever can push to the records can forge them. They explain, and never silence a difference or a readable column.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AccountState, startEmbeddedService } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { repositoryIn } from "../support/git/remote.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { isAll, randomOf, sampleSeed } from "../support/sample.ts";

const rules = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integrations: { names: [Orders] }
  rules:
    - { id: mail, match: { column: "*email*" }, set: { hashed: true } }
`;
const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold, description: of the best }\n";
const column = "/schemas/public/tables/users/columns/email/hashed";
const path = join(".dimsync", "test.records");

const email = ({ integrations }: AccountState) =>
  integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"]?.columns["email"];

/** Other values of one part of a line: emptied and changed. */
function otherValues(value: unknown): readonly unknown[] {
  if (typeof value === "string") return ["", `${value}x`, value.replaceAll(/[0-9a-f]/gu, "0"), "Schemas/Orders", column];
  if (typeof value === "number") return [0, value + 1, 1e9];
  if (typeof value !== "object" || value === null) return [null, true, false];
  if (Array.isArray(value)) return [[], ...value.flatMap((one, index) => otherValues(one).map((other) => value.with(index, other)))];
  const members = Object.entries(value);
  return [
    {},
    ...members.map(([name]) => Object.fromEntries(members.filter(([other]) => other !== name))),
    ...members.flatMap(([name, one]) => otherValues(one).map((other) => ({ ...value, [name]: other }))),
  ];
}

/** The text with each member altered in turn. */
function forgeries(text: string, commit: string): readonly string[] {
  const lines = text.trimEnd().split("\n");
  const altered = lines.flatMap((line, at) => {
    const list = JSON.parse(line) as readonly unknown[];
    const values = list.flatMap((value, index) => (index === 0 ? [] : otherValues(value).map((other) => list.with(index, other))));
    return [lines.toSpliced(at, 1), ...values.map((one) => lines.with(at, JSON.stringify(one)))];
  });
  const since = "2026-01-01T00:00:00.000Z";
  const added = [
    ["notKept", "Schemas/Orders", column, { wanted: true, live: false, since, times: 9 }],
    ["givenUp", { what: "Schemas/Orders public.users.email", reason: "tidy", at: since }],
    ["givenUp", { what: "Schemas/Orders", reason: "tidy", at: since }],
    ["appliedCommit", { commit, manifestDigest: "sha256:0", runId: "r", at: since }],
    ["bindings", "SchemaConfig/orders", { id: "b27d" }],
    ["covered", "SchemaConfig/orders", "8f1c", "Orders"],
  ].map((line) => [...lines, JSON.stringify(line)]);
  return [[], lines.slice(0, 1), ...altered, ...added].map((all) => all.map((line) => `${line}\n`).join(""));
}

test("no alteration of the records turns a difference into exit 0, or keeps apply from hashing the column", async () => {
  const service = await startEmbeddedService({});
  onTestFinished(service.close);
  const folder = writeProject({
    ".gitignore": ".dimsync/\n",
    "dimsync.yaml": configText(service.url),
    "manifests/orders.yaml": rules,
    "manifests/tag.yaml": tag,
  });
  const commit = repositoryIn(folder)("rev-parse", "HEAD");
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q"], folder, { [keyVariable]: service.apiKey });
  expect((await run("apply", "--yes")).code).toBe(0);
  const text = readFileSync(join(folder, path), "utf8");
  const copy = writeProject({});
  cpSync(join(folder, ".dimsync"), copy, { recursive: true });
  const all = forgeries(text, commit);
  // What an attacker would write comes last.
  const random = randomOf(sampleSeed);
  const sample = all.filter((_, index) => isAll || index > all.length - 7 || random() < 15 / all.length);
  const silent: string[] = [];
  for (const forged of sample) {
    cpSync(copy, join(folder, ".dimsync"), { recursive: true });
    writeFileSync(join(folder, path), forged);
    service.mutate((state) => void Object.assign(email(state) ?? {}, { hashed: false }));
    const codes = [(await run("plan", "--detailed-exitcode")).code, (await run("drift")).code];
    const applied = await run("apply", "--yes");
    const isSilent = codes.includes(0) || (applied.code === 0 && email(service.state())?.hashed !== true);
    if (isSilent) silent.push(`${codes} ${applied.code}: ${forged}`);
  }
  expect(silent).toEqual([]);
});
