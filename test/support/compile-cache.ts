import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type Environment = Readonly<Record<string, string>>;

const preload = fileURLToPath(new URL("compiled.cjs", import.meta.url));

/**
 * Lets the processes of the built command line share the code that they compile, and optimizes less: a third of the processor
 * time of a start. NODE_OPTIONS of `env` are added.
 */
export const withCompileCache = ({ NODE_OPTIONS: more = "", ...env }: Environment): Environment => ({
  NODE_COMPILE_CACHE: join(process.env["DIMSYNC_TESTS_TEMP"] ?? tmpdir(), "compiled"),
  NODE_OPTIONS: `--require ${JSON.stringify(preload)} --v8-pool-size=1 ${more}`,
  ...env,
});
