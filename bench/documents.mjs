// W11: many short documents in one file, each with a text over two lines.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { roundRobin } from "./measure.mjs";
import { dimsync, writeProject } from "./project.mjs";
import { table, times, wall } from "./table.mjs";

const manifest = (index) => `apiVersion: dimsync/v1
kind: Tag
metadata: { name: tag-${index} }
spec:
  name: Tag ${index}
  description: Marks the columns that
    the privacy team has reviewed
`;

/** Reads the file as the library does, which is the least that any program with it needs. */
const library = (root) => `import { readFileSync } from "node:fs";
import { parseAllDocuments } from ${JSON.stringify(pathToFileURL(join(root, "node_modules/yaml/dist/index.js")).href)};
const count = parseAllDocuments(readFileSync(process.argv[2], "utf8")).map((one) => one.toJS()).length;
if (count !== Number(process.argv[3])) throw new Error(String(count));
`;

export async function w11(bench) {
  const rows = [["W11: validate of many documents in one file", "wall ms", "to the YAML library alone"]];
  for (const count of [2000, 8000].map(bench.size)) {
    const folder = writeProject(bench, `w11-${count}`, {
      "manifests/all.yaml": Array.from({ length: count }, (_, index) => manifest(index)).join("---\n"),
    });
    const program = join(folder, "library.mjs");
    writeFileSync(program, library(bench.root));
    const alone = {
      name: "the YAML library alone",
      command: [process.execPath, program, join(folder, "manifests/all.yaml"), String(count)],
    };
    const validate = { name: "validate", ...dimsync(bench, folder, "validate") };
    const walls = await roundRobin([alone, validate], bench.runs);
    for (const { name } of [alone, validate])
      rows.push([`${count.toLocaleString("en")} documents, ${name}`, wall(walls[name]), times(walls[name], walls[alone.name])]);
  }
  return table(rows);
}
