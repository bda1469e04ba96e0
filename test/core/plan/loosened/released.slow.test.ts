// What no manifest covers any more is named once, as it was covered.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findingsOf } from "../../../../src/core/base/model/findings.ts";
import type { Finding } from "../../../../src/core/base/model/plan.ts";
import { runCommand } from "../../../support/command.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { repositoryIn } from "../../../support/git/remote.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";
import { startService } from "../../../support/service.ts";

const integration = (name: string, id: string): string =>
  `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: ${name}, id: "${id}" }\nspec: {}\n`;
const schemas = (name: string, spec: string): string =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
const emails = 'rules: [{ id: emails, match: { column: "email" }, set: { hashed: true } }]';
const tag = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, taggedBy: { user: dana@example.com } }\n";

const shop = {
  rule: "released",
  severity: "warning",
  message: "It is not managed any more, with 2 columns. dimsync sends nothing; the account keeps it.",
  address: "Integration/shop",
  count: 2,
  at: "base",
};

/** A repository with a commit, and what `plan --base HEAD` says of changes in the working tree. */
async function repository(files: Readonly<Record<string, string>>) {
  const service = await startService();
  onTestFinished(() => service.close());
  const manifests = Object.fromEntries(Object.entries(files).map(([name, text]) => [`manifests/${name}.yaml`, text]));
  const folder = writeProject({ "dimsync.yaml": configText(service.url), ...manifests });
  repositoryIn(folder);
  const run = (...argv: readonly string[]) => runCommand(["plan", "-q", ...argv], folder, { ...gitEnv, [keyVariable]: service.apiKey });
  return {
    run,
    released: async (...argv: readonly string[]): Promise<readonly Finding[]> =>
      findingsOf(JSON.parse((await run("--base", "HEAD", "-o", "json", ...argv)).stdout), "released"),
    remove: (name: string) => rmSync(join(folder, `manifests/${name}.yaml`)),
    write: (name: string, text: string) => writeFileSync(join(folder, `manifests/${name}.yaml`), text),
  };
}

test("an integration without manifests is one object, with the columns that they covered", async () => {
  const { run, released, remove } = await repository({
    orders: integration("shop", "8f1c"),
    config: schemas("shop", `integration: shop, ${emails}`),
    tag,
    rest: schemas("rest", `integrations: { names: ["shop-shard-*"] }`),
  });
  expect(await released()).toEqual([]);
  remove("orders");
  remove("config");
  expect(await released()).toEqual([shop]);
  const line =
    "! Integration/shop   released\n    It is not managed any more, with 2 columns. dimsync sends nothing; the account keeps it.\n";
  expect((await run("--base", "HEAD")).stdout).toContain(line);
  expect((await run("--base", "HEAD", "-o", "markdown")).stdout).toContain(
    "- `!` `Integration/shop` `released`<br>It is not managed any more, with 2",
  );
  expect((await run("--base", "HEAD", "-o", "html")).stdout).toContain("It is not managed any more, with 2 columns");
  remove("tag");
  expect((await released()).map(({ address }) => address)).toEqual(["Integration/shop", "Tag/pii"]);
  expect((await run("--base", "HEAD")).stdout).toContain("! Tag/pii   released");
});

test("a resource that a tag no longer lists keeps it, which is said unless the tag is exclusive", async () => {
  const tagOf = (resources: string, more = ""): string => tag.replace("spec: {", `spec: { resources: [${resources}],${more}`);
  const { run, released, write } = await repository({ tag: tagOf("{ integration: Orders }, { monitor: { id: m-1 } }") });
  expect(await released()).toEqual([]);
  write("tag", tagOf("{ monitor: { id: m-1 } }"));
  expect(await released()).toEqual([
    {
      rule: "released",
      severity: "warning",
      address: "Tag/pii#8f1c",
      at: "base",
      count: 0,
      message: expect.stringContaining("does not list Orders any more"),
    },
  ]);
  const { stdout } = await run("--base", "HEAD");
  expect(stdout).toContain(
    "! Tag/pii#8f1c   released\n    The manifest does not list Orders any more. dimsync sends nothing; it keeps the tag.\n",
  );
  write("tag", tagOf("{ monitor: { id: m-1 } }", " exclusive: true,"));
  expect(await released()).toEqual([]);
});

test("what has another manifest, another name or another file is not released", async () => {
  const { released, remove, write } = await repository({
    orders: integration("shop", "8f1c"),
    config: schemas("shop", `integration: shop, ${emails}`),
    all: schemas("all", `integrations: { names: ["*"] }, priority: -1`),
  });
  remove("config");
  expect(await released()).toEqual([]);
  remove("orders");
  write("renamed", integration("store", "8f1c"));
  expect(await released()).toEqual([]);
  remove("renamed");
  // Another SchemaConfig still covers the integration, but not these columns.
  expect(await released()).toEqual([shop]);
  write("all", schemas("all", `integrations: { names: ["*"] }, ${emails}`));
  expect(await released()).toMatchObject([{ address: "Integration/shop", count: 0 }]);
});

test("nothing is released if the manifests have errors, without a base, and with --only", async () => {
  const { run, released, remove, write } = await repository({ orders: integration("shop", "8f1c"), tag });
  remove("orders");
  expect(await released("--only", "Tag/*")).toEqual([]);
  expect(findingsOf(JSON.parse((await run("-o", "json")).stdout), "released")).toEqual([]);
  write("broken", "apiVersion: dimsync/v1\nkind: Tag\n");
  expect(await released()).toEqual([]);
});
