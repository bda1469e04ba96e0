import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seedAccount } from "../../../src/embedded/index.ts";
import { runFmt } from "../../../src/features/fmt/command.ts";
import type { FmtFlags } from "../../../src/features/fmt/index.ts";
import { openAccountProject } from "../../support/accounts/project.ts";

test("fmt leaves a file of more than 16 MiB alone and says why, and goes on with the others", async () => {
  const project = await openAccountProject(seedAccount);
  try {
    await project.importJson({});
    const long = `apiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { name: long }\nspec: { rules: [] }\n${"# note\n".repeat(2_400_000)}`;
    await writeFile(join(project.folder, "manifests/long.yaml"), long);
    await writeFile(
      join(project.folder, "manifests/short.yaml"),
      "kind: RuleSet\napiVersion: dimsync/v1\nmetadata: { name: short }\nspec: { rules: [] }\n",
    );
    const { code, out, err } = await project.run<FmtFlags>(runFmt, {});
    expect({ code, out }).toEqual({ code: 1, out: "manifests/short.yaml\n" });
    expect(err).toContain("manifests/long.yaml has more than 16 MiB. fmt does not format files of this size. Split the file.");
  } finally {
    await project.close();
  }
});
