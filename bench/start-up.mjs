// W3: the start-up time.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { roundRobin } from "./measure.mjs";
import { ms, table, times } from "./table.mjs";

const manifest = `apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii }
spec:
  name: PII
  description: Contains personal data
  owner: privacy@example.com
  taggedBy: bot@example.com
  resources:
    - monitor: { id: "m-77" }
`;

export async function w3(bench) {
  const folder = join(bench.folder, "w3");
  mkdirSync(join(folder, "manifests"), { recursive: true });
  writeFileSync(join(folder, "manifests/pii.yaml"), manifest);
  writeFileSync(join(folder, "dimsync.yaml"), "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n");
  writeFileSync(join(folder, "empty.mjs"), "");
  const node = (name, ...args) => ({ name, command: [process.execPath, ...args] });
  const contestants = [
    node("node -e 0", "-e", "0"),
    node("an empty ES module", join(folder, "empty.mjs")),
    node("--version", bench.bin, "--version"),
    node("--help", bench.bin, "--help"),
    node("plan --help", bench.bin, "plan", "--help"),
    node("validate, one small file", bench.bin, "validate", "-C", folder),
  ];
  const runs = 3 * bench.runs;
  const wall = await roundRobin(contestants, runs);
  const rows = [
    ["W3: start-up", "wall ms", "to node -e 0"],
    ...contestants.map(({ name }) => [name, ms(wall[name]), times(wall[name], wall["node -e 0"])]),
  ];
  return `${table(rows)}\n\nMedians of ${runs} runs.`;
}
