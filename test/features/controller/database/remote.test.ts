import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { serveDatabase } from "../../../../src/features/controller/database/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";

test("ten wrong tokens within a minute close the embedded database to further wrong tokens, and not to the right one", async () => {
  const folder = writeProject({});
  const result = { rows: [], rowCount: 0 };
  const database: Database = {
    query: async () => result,
    script: async () => [result],
    processIds: async () => ({ given: 1, actual: 1 }),
    close: async () => {},
  };
  onTestFinished((await serveDatabase(database, folder)).close);
  const { port, token } = JSON.parse(readFileSync(join(folder, "control.json"), "utf8")) as {
    readonly port: number;
    readonly token: string;
  };
  const ask = async (given: string) => {
    const headers = { authorization: `Bearer ${given}` };
    const { status, headers: answered } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: '{"text":"select"}' });
    return [status, answered.get("retry-after")];
  };
  // The count begins again with each minute of the clock.
  let refused = 0;
  while (refused < 20 && (await ask("wrong"))[0] === 401) refused += 1;
  expect(refused).toBeGreaterThanOrEqual(10);
  expect([await ask("wrong"), await ask(token)]).toEqual([
    [429, "60"],
    [200, null],
  ]);
});
