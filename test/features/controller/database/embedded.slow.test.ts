import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { openEmbeddedDatabase } from "../../../../src/features/controller/database/embedded.ts";
import { startEmbeddedDatabase } from "../../../support/embedded-database.ts";
import { writeProject } from "../../../support/project-folder.ts";

let database: Database;
beforeAll(async () => {
  database = await startEmbeddedDatabase();
});
afterAll(() => database.close());

const firstOf = async (sql: string): Promise<unknown> => Object.values((await database.query(sql, [])).rows[0] ?? {})[0];

it("keeps rows and indexes that are updated again and again small", async () => {
  await database.script(
    "create table often (id integer primary key, at timestamptz); create index on often (at); insert into often select id, now() from generate_series(1, 50) id",
  );
  const updated = async (times: number): Promise<number> => {
    for (let id = 0; id < times; id++)
      await database.query("update often set at = clock_timestamp() + random() * interval '1 hour' where id = $1", [(id % 50) + 1]);
    return Number(await firstOf("select pg_total_relation_size('often')"));
  };
  const sizes = [await updated(6_000), await updated(6_000)];
  expect(sizes[1]).toBeLessThan(1.3 * Number(sizes[0]));
});

it("prepares at most 200 statements", async () => {
  for (let index = 0; index < 300; index++) await database.query(`select ${index} + $1::integer as sum`, [1]);
  expect(Number(await firstOf("select count(*) from pg_prepared_statements"))).toBe(200);
  const { rows } = await database.query("select 299 + $1::integer as sum", [2]);
  expect(rows).toEqual([{ sum: 301 }]);
});

it("has the errors of a server, and continues after them", async () => {
  await expect(database.query("select 1 / $1::integer", [0])).rejects.toMatchObject({ name: "error", code: "22012" });
  await expect(database.script("begin; select 1 / 0; commit")).rejects.toMatchObject({ code: "22012" });
  await expect(database.query("select from", [])).rejects.toMatchObject({ code: "42601" });
  expect(await firstOf("select 1 as one")).toBe(1);
  expect((await database.script("select 1 as a; select 2 as b")).map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ b: 2 }]]);
});

it.each([
  ["half of it", { base: undefined, "pg_hba.conf": "" }, "PG_VERSION is missing"],
  ["files that are not those of a database", { "notes.txt": "mine" }, "PG_VERSION is missing"],
  [
    "a database that does not start",
    { base: undefined, pg_wal: undefined, global: undefined, PG_VERSION: "17", "global/pg_control": "cut" },
    "it does not start",
  ],
])("leaves a folder with %s as it is, and says so", async (_, files, what) => {
  const folder = writeProject({});
  const data = join(folder, "postgres");
  mkdirSync(data);
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) mkdirSync(join(data, name));
    else writeFileSync(join(data, name), text);
  }
  const before = readdirSync(data, { recursive: true }).toSorted();
  await expect(openEmbeddedDatabase(folder)).rejects.toMatchObject({
    code: "E_CONTROLLER_DATABASE",
    message: expect.stringContaining(`The embedded database in ${data} is damaged: ${what}`),
  });
  if (what !== "it does not start") expect(readdirSync(data, { recursive: true }).toSorted()).toEqual(before);
});
