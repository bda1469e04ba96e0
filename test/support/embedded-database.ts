import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openEmbeddedDatabase } from "../../src/controller/database/embedded.ts";
import type { Database } from "../../src/records/postgres/connection.ts";

/**
 * An embedded database in memory. Closing it also frees its 500 MB, which Node would keep for a while:
 * tests that start many processes would take half as long again after it.
 */
export async function startEmbeddedDatabase(): Promise<Database> {
  const database = await openEmbeddedDatabase(undefined);
  return {
    ...database,
    async close() {
      await database.close();
      setFlagsFromString("--expose-gc");
      setImmediate(runInNewContext("gc") as () => void);
    },
  };
}
