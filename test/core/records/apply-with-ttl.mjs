// `node apply-with-ttl.mjs MILLISECONDS` applies the project of the working directory like `dimsync apply --yes --lock-timeout 30s`, with
// a lease of this time-to-live: a test that freezes the process waits for it to pass.
import { apply, DimsyncError, loadProject } from "../../../dist/index.js";

const { env } = process;
const project = await loadProject({ cwd: process.cwd(), env });
const { settings } = project;
const records = { ...settings.records, ttlMs: Number(process.argv[2]) };
try {
  const result = await apply({ ...project, settings: { ...settings, records } }, { env, lockTimeoutMs: 30_000, onNotice: console.error });
  console.log(JSON.stringify(result));
  process.exitCode = result.exit.code;
} catch (error) {
  if (!(error instanceof DimsyncError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = error.exit;
}
