// Projects on the benchmark's service, and the command lines that are measured in them.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { integrationId } from "./account.mjs";

/** A new project with these files by path, and a config. Returns its folder. */
export function writeProject(bench, name, files = {}) {
  const folder = join(bench.folder, name);
  rmSync(folder, { recursive: true, force: true });
  const target = `targets: { bench: { baseUrl: "${bench.base}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
  const config = `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${target}\n`;
  for (const [path, text] of Object.entries({ "dimsync.yaml": config, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** dimsync in a project. Each project has its own cache, as if it had its own machine. */
export const dimsync = (bench, folder, ...args) => ({
  command: [process.execPath, bench.bin, ...args, "-C", folder],
  env: { DIMSYNC_API_KEY: bench.key, XDG_CACHE_HOME: join(folder, ".cache"), CI: "" },
});

/** F (bench/floor.mjs) for an account with so many integrations. */
export function floor(bench, integrations, concurrency = 8) {
  const ids = Array.from({ length: integrations }, (_, i) => integrationId(i));
  return floorOf(bench, ["/v1/integrations", ...ids.map((id) => `/v1/integrations/${id}/schemas`)], concurrency);
}

let floors = 0;

/** F for these paths. */
export function floorOf(bench, paths, concurrency = 8) {
  floors += 1;
  const file = join(bench.folder, `paths-${floors}`);
  writeFileSync(file, paths.join("\n"));
  return { name: "F", command: [process.execPath, bench.floor, bench.base, bench.key, file, String(concurrency)] };
}
