import { tmpdir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string>>;

/**
 * Lets the processes of the built command line share the code that they compile, as the runs of a
 * user do: each takes a third less processor time. Not with NODE_OPTIONS, which may change V8's
 * flags: V8 then compiles the code again, and it would be kept again each time.
 */
export const withCompiledCode = (env: Environment): Environment =>
  env["NODE_OPTIONS"] === undefined ? { XDG_CACHE_HOME: join(process.env["DIMSYNC_TESTS_TEMP"] ?? tmpdir(), "caches"), ...env } : env;
