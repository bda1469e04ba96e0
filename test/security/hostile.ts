import { readFileSync } from "node:fs";
import { type AccountState, seedAccount, type TableEntry } from "../../src/embedded/index.ts";

/** A line that no command prints at the beginning of a line: only a line break in a name puts it there. */
export const forged = "FORGED:No_changes.";

/** Names that whoever can create a column can write. */
export const hostileNames: Readonly<Record<string, string>> = {
  "a line feed": `a\n${forged}`,
  "a carriage return": `b\r${forged}`,
  both: `c\r\n${forged}`,
  "a line separator": `d\u2028${forged}`,
  "a paragraph separator": `e\u2029${forged}`,
  "a next line": `f\u0085${forged}`,
  "a null character": "g\0h",
  "control characters": "i\u0001\u0008\u007f\u009b31m",
  "right-to-left text": "j\u202egnp.exe\u2066",
  "a lone surrogate": "k\ud800",
  "another lone surrogate": "\udc00l",
  "a workflow command": "::error::forged",
  "a workflow command after a line break": "m\n::error::forged",
  "a workflow command after spaces": "n\n \u00a0::set-env name=PATH::/tmp",
  "an old workflow command": "o ##[error]forged",
  "a program in a formula": "=cmd|' /C calc'!A0",
  "a sum": "@SUM(A1:A9)",
  "a positive number": "+1",
  "a negative number": "-1+1",
  "a tab before a formula": "\t=1",
  "a carriage return before a formula": "\r=1",
  HTML: "<script>alert(1)</script>",
  "the end of a fold": "</details></summary>",
  "cells of a table": "| a | b |",
  backticks: "`x` ```",
  "a mention": "@octocat",
  "a reference": "#1",
  "a colour and a title": "\u001b[31mred\u001b]0;title\u0007",
  "a long name": `p${"o".repeat(3_000)}`,
  "an apostrophe before a formula": "'=1",
  "a backslash": "q\\u202e",
  "the member of a secret": "$secret",
};

/** Lines of one's own in the output of dimsync: a forged result, and a workflow command. */
export const breakouts: readonly string[] = [`\n${forged}`, "\n::error::forged"];

/**
 * An account in which users, tags, sources, an integration, schemas, tables, columns and entries of the audit log have these names.
 */
export function hostileAccount(names: readonly string[] = Object.values(hostileNames)): AccountState {
  const account = seedAccount();
  const at = new Date().toISOString();
  const [orders] = account.integrations;
  if (orders === undefined) throw new Error("The seeded account has no integration.");
  const column = { nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false };
  const table = (columns: readonly string[]): TableEntry => ({
    ...{ nameInDestination: "t", enabled: true, syncMode: "incremental" },
    columns: Object.fromEntries(columns.map((name) => [name, { ...column, nameInDestination: name }])),
  });
  orders.schemas = Object.fromEntries([
    ["public", { nameInDestination: "public", enabled: true, tables: { users: table(names) } }],
    ...names.map((name) => [`s${name}`, { nameInDestination: `s${name}`, enabled: true, tables: { [`t${name}`]: table([name]) } }]),
  ]);
  account.integrations.push(
    ...names.map((name, index) => ({
      ...structuredClone(orders),
      ...{ id: `h-${index}`, number: `${9107199254740993n + BigInt(index)}`, name: `A${name}` },
      source: { id: `hs-${index}`, name, type: "postgres" },
      schemas: { [name]: { nameInDestination: name, enabled: true, tables: { [name]: table([name]) } } },
    })),
  );
  for (const [index, name] of names.entries()) {
    account.users.push({ id: `hu-${index}`, email: `${name}@example.com`, createdAt: at, name });
    account.tags.push({
      ...{ id: `ht-${index}`, name: `t${name}`, description: name, owner: `hu-${index}`, origin: "custom" },
      ...{ createdAt: at, lastUpdatedAt: at, relations: [] },
    });
    account.auditLogs.push({
      ...{ id: `ha-${index}`, timestamp: at, event: `Schema configuration of integration 8f1c "Orders" changed ${name}` },
      ...{ actor: { type: "user", email: `${name}@example.com` }, context: { ipAddress: "203.0.113.7", userAgent: name } },
    });
  }
  return account;
}

/** What a reader of the text could take for something else, as sentences; none for a safe text. */
export function faultsIn(text: string, { commands = false }: { readonly commands?: boolean } = {}): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/u, ""));
  return lines.flatMap((line, index) => {
    const faults = [
      ...(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(line) ? ["has a raw control character"] : []),
      // The runner of GitHub looks for `::` after white space at the beginning of a line, and for `##[` anywhere.
      ...(!commands && /^[\s\u0085]*::/u.test(line) ? ["is a workflow command"] : []),
      ...(line.includes("##[") ? ["has an old workflow command"] : []),
      ...(/^\W*FORGED/u.test(line) ? ["is forged"] : []),
    ];
    return faults.map((fault) => `line ${index + 1} ${fault}: ${JSON.stringify(line.slice(0, 120))}`);
  });
}

/**
 * Files of a branch that try each way to replace dimsync, npm and the shell of npm. Whatever runs appends a line to the
 * file `ran`.
 */
export function programsOfBranch(registry: string, ran: string): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const program = `#!/bin/sh\necho "$0 with $DIMSYNC_API_KEY" >> "${ran}"\n`;
  const script = `require("fs").appendFileSync(${JSON.stringify(ran)}, __filename);\n`;
  const npmrc = ["script-shell=./shell.sh", `registry=${registry}`, "prefix=./global", "node-options=--require=./evil.cjs"];
  const bin = { name: "dimsync", version, bin: { dimsync: "evil.cjs" } };
  return {
    ".npmrc": `${npmrc.join("\n")}\n`,
    "package.json": JSON.stringify({ ...bin, dependencies: { dimsync: version }, scripts: { preinstall: "./shell.sh" } }),
    "node_modules/dimsync/package.json": JSON.stringify(bin),
    ...{ "evil.cjs": script, "node_modules/dimsync/evil.cjs": script, "node_modules/npm/index.js": script },
    ...{ "shell.sh": program, "node_modules/.bin/dimsync": program, "node_modules/.bin/npm": program, "global/bin/dimsync": program },
  };
}
