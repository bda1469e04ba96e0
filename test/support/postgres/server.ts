import { execFileSync, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { folderOfRun } from "../folder-of-run.ts";
import { freePort } from "../free-port.ts";
import { program } from "../programs.mjs";

/** A real PostgreSQL server on loopback, in a temporary folder. */
export interface Postgres {
  readonly port: number;
  /** A new, empty database: `postgres://…`. */
  readonly database: () => Promise<string>;
  /** Runs SQL as the superuser and returns what psql prints, unaligned and without headers. */
  readonly sql: (url: string, text: string) => string;
  /** "immediate" is a crash: nothing is written to disk before the server ends. */
  readonly stop: (mode: "fast" | "immediate") => void;
  readonly start: () => void;
  readonly remove: () => void;
}

/** The folder of the programs of the server. */
const binFolder = (): string => dirname(program("postgresql"));

/** The server refuses to run as root. */
function serverUser(): Pick<SpawnOptions, "uid" | "gid"> {
  if (process.getuid?.() !== 0) return {};
  const [, , uid, gid] = /^postgres:.*$/mu.exec(readFileSync("/etc/passwd", "utf8"))?.[0].split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

function giveToServer(folder: string): void {
  const { uid, gid } = serverUser();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}

/** Creates `data` in the folder, of a server that was never started. */
function makeData(folder: string): void {
  giveToServer(folder);
  const args = ["-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"];
  execFileSync(join(binFolder(), "initdb"), args, { ...serverUser(), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
}

/** A server for tests that stop or configure it; others use `sharedPostgres`. `settings`: lines for postgresql.conf. */
export function startPostgres(settings: readonly string[] = []): Promise<Postgres> {
  return startPostgresIn(mkdtempSync(join(tmpdir(), "dimsync-postgres-")), settings);
}

/** Like `startPostgres`, in an empty folder. */
export async function startPostgresIn(folder: string, settings: readonly string[]): Promise<Postgres> {
  // Copied with its owner: to make it again takes 0.5 s of processor time. The benchmark is not a run of tests.
  if (process.env["DIMSYNC_TESTS_TEMP"] === undefined) makeData(folder);
  else {
    giveToServer(folder);
    execFileSync("cp", ["-a", join(await folderOfRun("postgres", makeData), "data"), folder]);
  }
  const data = join(folder, "data");
  const port = await freePort();
  appendFileSync(
    join(data, "postgresql.conf"),
    [`port = ${port}`, "listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`, ...settings, ""].join("\n"),
  );
  const postgres = postgresIn(folder, port);
  postgres.start();
  return postgres;
}

/** The server that was started in the folder. */
export function postgresIn(folder: string, port: number): Postgres {
  // The server would keep an inherited pipe open, so it gets none.
  const pgCtl = (args: readonly string[]): void => {
    const { status } = spawnSync(join(binFolder(), "pg_ctl"), ["-D", join(folder, "data"), "-l", join(folder, "log"), "-w", ...args], {
      ...serverUser(),
      cwd: folder,
      stdio: "ignore",
    });
    if (status !== 0) throw new Error(`pg_ctl ${args.join(" ")} ended with ${status}`);
  };
  const sql: Postgres["sql"] = (url, text) =>
    execFileSync(join(binFolder(), "psql"), [url, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text], { encoding: "utf8", maxBuffer: 2 ** 28 });
  const urlOf = (name: string): string => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    port,
    async database() {
      // Other processes may create databases on the same server.
      const name = `d${randomBytes(6).toString("hex")}`;
      const client = new Client(urlOf("postgres"));
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      return urlOf(name);
    },
    sql,
    stop: (mode) => pgCtl(["stop", "-m", mode]),
    start: () => pgCtl(["start"]),
    remove: () => removePostgres(folder),
  };
}

/** Stops the server in a folder if it runs, and removes the folder. */
export function removePostgres(folder: string): void {
  const data = join(folder, "data");
  if (existsSync(data))
    spawnSync(join(binFolder(), "pg_ctl"), ["-D", data, "stop", "-m", "immediate"], { ...serverUser(), cwd: folder, stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
}

export interface Pgbouncer {
  /** The URL of a database, through the pooler. */
  readonly through: (url: string) => string;
  /** Blocks all data; connections stay open. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  readonly stop: () => void;
}

/** pgbouncer in transaction mode in front of the server. */
export async function startPgbouncer(postgres: Postgres): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-pgbouncer-"));
  giveToServer(folder);
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  appendFileSync(
    file,
    [
      "[databases]",
      `* = host=127.0.0.1 port=${postgres.port} user=postgres`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "auth_type = any",
      "pool_mode = transaction",
      "default_pool_size = 2",
      `unix_socket_dir = ${folder}`,
      "",
    ].join("\n"),
  );
  const child = spawn(program("pgbouncer"), ["-q", file], { ...serverUser(), stdio: "ignore" });
  await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", resolve);
  });
  return {
    through: (url) => url.replace(`:${postgres.port}/`, `:${port}/`),
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    stop() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
