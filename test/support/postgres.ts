import { execFileSync, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real PostgreSQL server on loopback, in a temporary folder. */
export interface Postgres {
  readonly port: number;
  /** A new, empty database: `postgres://…`. */
  readonly database: () => string;
  /** Runs SQL as the superuser and returns what psql prints, unaligned and without headers. */
  readonly sql: (url: string, text: string) => string;
  /** "immediate" is a crash: nothing is written to disk before the server ends. */
  readonly stop: (mode: "fast" | "immediate") => void;
  readonly start: () => void;
  /** The processes of the server, for SIGSTOP and SIGCONT. */
  readonly pids: () => readonly number[];
  readonly remove: () => void;
}

/** Debian's folder for the programs of the server. */
function binFolder(): string {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, "bin")).find((folder) => existsSync(join(folder, "initdb")));
  if (found === undefined) throw new Error("PostgreSQL is not installed: on Debian, run `apt-get install postgresql`.");
  return found;
}

/** The server refuses to run as root. */
function serverUser(): Pick<SpawnOptions, "uid" | "gid"> {
  if (process.getuid?.() !== 0) return {};
  const of = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim());
  return { uid: of("-u"), gid: of("-g") };
}

/** `settings`: lines for postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<Postgres> {
  const bin = binFolder();
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), "dimsync-postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const run = (program: string, args: readonly string[]): string =>
    execFileSync(join(bin, program), [...args], { ...user, encoding: "utf8", cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]);
  const port = await freePort();
  appendFileSync(
    join(data, "postgresql.conf"),
    [`port = ${port}`, "listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`, ...settings, ""].join("\n"),
  );
  // The server would keep an inherited pipe open, so it gets none.
  const pgCtl = (args: readonly string[]): void => {
    const { status } = spawnSync(join(bin, "pg_ctl"), ["-D", data, "-l", join(folder, "log"), "-w", ...args], {
      ...user,
      cwd: folder,
      stdio: "ignore",
    });
    if (status !== 0) throw new Error(`pg_ctl ${args.join(" ")} ended with ${status}`);
  };
  const start = (): void => pgCtl(["start"]);
  const stop: Postgres["stop"] = (mode) => pgCtl(["stop", "-m", mode]);
  const sql: Postgres["sql"] = (url, text) =>
    execFileSync(join(bin, "psql"), [url, "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text], { encoding: "utf8", maxBuffer: 2 ** 28 });
  start();
  let databases = 0;
  const urlOf = (name: string): string => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    port,
    database() {
      databases += 1;
      sql(urlOf("postgres"), `create database d${databases}`);
      return urlOf(`d${databases}`);
    },
    sql,
    stop,
    start,
    pids: () => execFileSync("pgrep", ["-f", data], { encoding: "utf8" }).trim().split("\n").map(Number),
    remove() {
      spawnSync(join(bin, "pg_ctl"), ["-D", data, "stop", "-m", "immediate"], { ...user, cwd: folder, stdio: "ignore" });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** pgbouncer in transaction mode in front of the server; resolves with a function that rewrites URLs. */
export async function startPgbouncer(postgres: Postgres): Promise<{
  readonly through: (url: string) => string;
  /** Blocks all data; connections stay open. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  readonly stop: () => void;
}> {
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), "dimsync-pgbouncer-"));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
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
  const child = spawn("pgbouncer", ["-q", file], { ...user, stdio: "ignore" });
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

/** A free port on loopback. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
