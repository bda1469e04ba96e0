// The folder of a dbt project is the nearest one above its manifest that has dbt_project.yml.
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { dbtFolder } from "../../../../src/core/columns/labels/load.ts";
import { writeProject } from "../../../support/project-folder.ts";

test("the folder of a dbt project", () => {
  const folder = writeProject({
    "dbt/dbt_project.yml": "name: shop\n",
    "dbt/a/target/manifest.json": "{}",
    "b/target/manifest.json": "{}",
  });
  expect(dbtFolder(join(folder, "dbt/a/target/manifest.json"))).toBe(join(folder, "dbt"));
  // Without dbt_project.yml, the manifest is where dbt writes it.
  const other = join(folder, "b/target/manifest.json");
  expect(dbtFolder(other)).toBe(dirname(dirname(other)));
});
