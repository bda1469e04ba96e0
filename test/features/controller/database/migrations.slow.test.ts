import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../../src/features/controller/database/migrate.ts";
import { migrations } from "../../../../src/features/controller/database/migrations.ts";
import { startEmbeddedDatabase } from "../../../support/embedded-database.ts";

const manualKey = (address: string, path: string): string =>
  `manual m-${createHash("sha256").update(`${address}\n${path}`).digest("hex").slice(0, 8)}`;

test("findings keep their history when the schemas of an integration get an address of their own", async () => {
  const database = await startEmbeddedDatabase();
  onTestFinished(() => database.close());
  const step = migrations.findIndex(({ sql }) => sql.includes("'Schemas/'"));
  await migrate(database, migrations.slice(0, step));
  const rows: readonly (readonly [key: string, kind: string, address: string, path: string, cause: string, closed: boolean])[] = [
    ["change SchemaConfig/shops@orders /x", "change", "SchemaConfig/shops@orders", "/x", "SchemaConfig/shops, rule pii", false],
    ["change SchemaConfig/shops@orders /x", "change", "SchemaConfig/shops@orders", "/x", "SchemaConfig/shops, rule pii", true],
    ["change SchemaConfig/pii@orders /x", "change", "SchemaConfig/pii@orders", "/x", "SchemaConfig/pii, rule pii", true],
    ["change SchemaConfig/pii@orders /x", "change", "SchemaConfig/pii@orders", "/x", "SchemaConfig/pii, rule pii", false],
    [manualKey("SchemaConfig/shops@a@b", "/y"), "manual", "SchemaConfig/shops@a@b", "/y", "SchemaConfig/shops@a@b /y", false],
    ["blocked SchemaConfig/shops@orders E_GONE", "blocked", "SchemaConfig/shops@orders", "", "E_GONE SchemaConfig/shops@orders", false],
    ["policy no-emails SchemaConfig/shops@orders /z", "policy", "SchemaConfig/shops@orders", "/z", "no-emails", false],
    ["change Tag/pii /name", "change", "Tag/pii", "/name", "Tag/pii /name", false],
  ];
  await database.query("insert into dimsync_controller.account (source, target, mode, every_ms) values ('s', 'prod', 'report', 1)", []);
  for (const row of rows)
    await database.query(
      `insert into dimsync_controller.finding (account, key, kind, address, path, risk, cause, opened_at, opened_run, closed_at)
      select id, $1, $2, $3, $4, 'neutral', $5, now(), 'run-1', case when $6 then now() end from dimsync_controller.account`,
      [...row],
    );
  await database.query(
    "insert into dimsync_controller.protection (account, key, actor, run) select id, 'SchemaConfig/shops@orders /x', 'dana', 'r' from dimsync_controller.account",
    [],
  );
  await migrate(database);
  const { rows: found } = await database.query(
    "select key, address, cause, closed_at is not null as closed from dimsync_controller.finding order by id",
    [],
  );
  const change = { key: "change Schemas/orders /x", address: "Schemas/orders" };
  expect(found).toEqual([
    { ...change, cause: "SchemaConfig/shops, rule pii", closed: false },
    { ...change, cause: "SchemaConfig/shops, rule pii", closed: true },
    { ...change, cause: "SchemaConfig/pii, rule pii", closed: true },
    // There is one open finding for each key. The next check closes this one.
    { key: "change SchemaConfig/pii@orders /x", address: "SchemaConfig/pii@orders", cause: "SchemaConfig/pii, rule pii", closed: false },
    { key: manualKey("Schemas/a@b", "/y"), address: "Schemas/a@b", cause: "Schemas/a@b /y", closed: false },
    { key: "blocked Schemas/orders E_GONE", address: "Schemas/orders", cause: "E_GONE Schemas/orders", closed: false },
    { key: "policy no-emails Schemas/orders /z", address: "Schemas/orders", cause: "no-emails", closed: false },
    { key: "change Tag/pii /name", address: "Tag/pii", cause: "Tag/pii /name", closed: false },
  ]);
  const { rows: sent } = await database.query("select key from dimsync_controller.protection", []);
  expect(sent).toEqual([{ key: "Schemas/orders /x" }]);
});
