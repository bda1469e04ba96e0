// npm audit --json | node build/audit.mjs
//
// Fails if npm reports a vulnerability in a package whose code is in dist/ (dist/packages.json, so
// build first). Vulnerabilities in development tools are only counted: they are not shipped.
import { readFileSync } from "node:fs";

const { vulnerabilities, message } = JSON.parse(readFileSync(0, "utf8"));
if (vulnerabilities === undefined) {
  console.error(`npm audit failed: ${message ?? "it printed no report"}`);
  process.exit(1);
}
const shipped = JSON.parse(readFileSync(new URL("../dist/packages.json", import.meta.url), "utf8"));
const folders = new Set(shipped.map(({ folder }) => folder));
const all = Object.values(vulnerabilities);
const affected = all.filter(({ nodes }) => nodes.some((node) => folders.has(node)));
for (const { name, severity, via } of affected)
  for (const cause of via)
    console.log(
      typeof cause === "string"
        ? `${name} (${severity}): because of ${cause}`
        : `${name} ${cause.range} (${cause.severity}): ${cause.title} ${cause.url}`,
    );
console.log(`Vulnerable packages: ${affected.length} of ${folders.size} shipped ones, ${all.length - affected.length} development tools.`);
process.exitCode = affected.length > 0 ? 1 : 0;
