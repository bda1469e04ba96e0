import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "../free-port.ts";
import { program } from "../programs.mjs";

/** OpenSSH's server on loopback, with its own keys. */
export interface SshServer {
  /** The address of a folder on this machine: `ssh://…`. */
  readonly urlOf: (folder: string) => string;
  /** The client with the right key, for core.sshCommand or GIT_SSH_COMMAND. */
  readonly command: string;
  /** The same for a key that may only read. The server prints what GitHub prints for such a key. */
  readonly readOnlyCommand: string;
  /** The client with a key that the server does not know. */
  readonly strangerCommand: string;
  /** The client on a machine that does not know the server's key. */
  readonly unknownHostCommand: string;
}

const readOnly = `#!/bin/sh
case "$SSH_ORIGINAL_COMMAND" in
  git-receive-pack*) echo 'ERROR: The key you are authenticating with has been marked as read only.' >&2; exit 1;;
  *) exec sh -c "$SSH_ORIGINAL_COMMAND";;
esac
`;

/** Starts a server that ends with the test. */
export async function sshServer(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-ssh-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string): string => join(folder, name);
  for (const name of ["host", "writer", "reader", "stranger"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file(name)]);
  const publicKey = (name: string): string => readFileSync(file(`${name}.pub`), "utf8");
  writeFileSync(file("read-only.sh"), readOnly, { mode: 0o755 });
  writeFileSync(file("authorized_keys"), `${publicKey("writer")}restrict,command="${file("read-only.sh")}" ${publicKey("reader")}`, {
    mode: 0o600,
  });
  const port = await freePort();
  writeFileSync(
    file("config"),
    [
      ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${file("host")}`, `AuthorizedKeysFile ${file("authorized_keys")}`],
      ...["StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PidFile none", ""],
    ].join("\n"),
  );
  // The server's folder, which the system's service creates otherwise.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  const log: string[] = [];
  // The program must be started by its full path.
  const server = spawn(program("sshd"), ["-D", "-e", "-f", file("config")], { stdio: ["ignore", "ignore", "pipe"] });
  server.stderr.setEncoding("utf8").on("data", (text: string) => log.push(text));
  onTestFinished(() => void server.kill("SIGKILL"));
  for (let tries = 0; !(await isOpen(port)); tries += 1) {
    if (tries > 600 || server.exitCode !== null) throw new Error(`sshd did not start: ${log.join("")}`);
    await sleep(50);
  }
  appendFileSync(file("known_hosts"), `[127.0.0.1]:${port} ${publicKey("host")}`);
  const client = (key: string, hosts = file("known_hosts")): string =>
    `ssh -F /dev/null -o KexAlgorithms=curve25519-sha256 -i ${file(key)} -o IdentitiesOnly=yes -o IdentityAgent=none -o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile=${hosts}`;
  return {
    urlOf: (path) => `ssh://${userInfo().username}@127.0.0.1:${port}${path}`,
    command: client("writer"),
    readOnlyCommand: client("reader"),
    strangerCommand: client("stranger"),
    unknownHostCommand: client("writer", "/dev/null"),
  };
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
