import { randomUUID } from "node:crypto";
import { DimsyncError } from "../../../core/model/errors.ts";
import { version } from "../../../core/model/runtime/version.ts";
import { type Database, isUndefinedTable, wordsOf } from "../../../core/records/postgres/connection.ts";
import { controllerSchema, type Migration, migrations } from "./migrations.ts";

const lockId = 0x64696d74;

/**
 * Creates the tables or brings them up to date. Several processes can do that at once: one does it, the
 * others wait. Tables of a later version stay as they are. Throws E_CONTROLLER_DATABASE.
 */
export async function migrate(database: Database, steps: readonly Migration[] = migrations): Promise<void> {
  const format = (step: Migration, index: number): string =>
    `if current < ${index + 1} then ${step.sql}
    update ${controllerSchema}.format set format = ${index + 1}, works_with = ${step.worksWith};
  end if;`;
  // Session locks do not work behind pgbouncer in transaction mode; this one ends with the transaction.
  const script = `begin;
set local synchronous_commit = on;
select pg_advisory_xact_lock(${lockId});
create schema if not exists ${controllerSchema};
create table if not exists ${controllerSchema}.format (id text not null, format integer not null, works_with integer not null);
insert into ${controllerSchema}.format select '${randomUUID()}', 0, 0 where not exists (select 1 from ${controllerSchema}.format);
do $migrate$
declare current integer;
begin
  select format into current from ${controllerSchema}.format;
  ${steps.map(format).join("\n  ")}
end
$migrate$;
commit;`;
  try {
    await database.script(script);
  } catch (error) {
    throw databaseError(error);
  }
  await checkFormat(database, steps.length);
}

/** Throws E_CONTROLLER_DATABASE if this version cannot work with the tables, or if there are none. */
export async function checkFormat(database: Database, supported: number = migrations.length): Promise<void> {
  const { rows } = await database.query(`select format, works_with from ${controllerSchema}.format`, []).catch((error: unknown) => {
    throw isUndefinedTable(error) ? notMigrated("has no tables of a controller") : databaseError(error);
  });
  const format = Number(rows[0]?.format ?? 0);
  if (format < supported) throw notMigrated("was created by an earlier version of dimsync");
  if (Number(rows[0]?.works_with) > supported)
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      `The controller's database has format ${format}, and dimsync ${version} supports ${supported}. Install the version of dimsync that runs the controller.`,
    );
}

const notMigrated = (what: string): DimsyncError =>
  new DimsyncError(
    "E_CONTROLLER_DATABASE",
    `The controller's database ${what}. Start the controller, which creates and updates the tables:`,
    {
      command: "dimsync controller run",
    },
  );

/** A failed statement as an error whose message never contains the URL. */
export function databaseError(error: unknown): DimsyncError {
  if (error instanceof DimsyncError) return error;
  return new DimsyncError(
    "E_CONTROLLER_DATABASE",
    `The controller's database could not be used: ${wordsOf(error)}. Check --database or DIMSYNC_DATABASE_URL, and the privileges of the role.`,
    { cause: error },
  );
}
