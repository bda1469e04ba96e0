// W3: the start-up time.
import { join } from "node:path";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, writeProject } from "./project.mjs";
import { mib, table, times, wall } from "./table.mjs";

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
  const folder = writeProject(bench, "w3", { "manifests/pii.yaml": manifest, "empty.mjs": "" });
  const node = (name, ...args) => ({ name, command: [process.execPath, ...args] });
  const validate = dimsync(bench, folder, "validate");
  await runOnce(validate);
  const contestants = [
    node("node -e 0", "-e", "0"),
    node("an empty ES module", join(folder, "empty.mjs")),
    node("--version", bench.bin, "--version"),
    node("--help", bench.bin, "--help"),
    node("plan --help", bench.bin, "plan", "--help"),
    { ...validate, name: "validate, one small file" },
  ];
  const runs = 3 * bench.runs;
  const walls = await roundRobin(contestants, runs);
  const rows = [["W3: start-up", "wall ms", "to node -e 0", "peak MiB"]];
  for (const contestant of contestants) {
    const own = walls[contestant.name];
    rows.push([contestant.name, wall(own), times(own, walls["node -e 0"]), mib(await peakMemory(contestant))]);
  }
  return `${table(rows)}\n\n${runs} runs; memory of one.`;
}
