import { tmpdir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string>>;

/** Lets the processes of the built command line share the code that they compile, if Node.js can keep it (22.8 and later). */
export const withCompileCache = (env: Environment): Environment => ({
  NODE_COMPILE_CACHE: join(process.env["DIMSYNC_TESTS_TEMP"] ?? tmpdir(), "compiled"),
  ...env,
});
