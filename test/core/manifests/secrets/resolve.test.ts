import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveSecrets } from "../../../../src/core/manifests/secrets/resolve.ts";
import { type SecretReference, type SecretSource, secretKey } from "../../../../src/core/model/settings/secret.ts";
import { writeProject } from "../../../support/project-folder.ts";

const canary = "canary-4711";
const node = (script: string): readonly string[] => [process.execPath, "-e", script];
const reference = (source: SecretSource): SecretReference => ({ $secret: { ...source } });

const files = {
  "plain.txt": `${canary}\n`,
  "crlf.txt": `${canary}\r\n`,
  "two-newlines.txt": `${canary}\n\n`,
  "empty.txt": "\n",
  "key.pem": "-----BEGIN-----\nabc\n-----END-----\n",
  "latin1.txt": Buffer.from([0x63, 0xff]),
  "big.txt": "x".repeat(1024 * 1024 + 1),
  "map.json": JSON.stringify({ a: { "b/c": canary }, n: 5432, t: true, none: null, e: "", __proto__x: 1, list: ["x", "y"] }),
};

async function resolveOne(source: SecretSource, env: Readonly<Record<string, string>> = {}) {
  const wanted = reference(source);
  const { values, problems } = await resolveSecrets([wanted], {
    folder: writeProject(files),
    env: { DIMSYNC_ALLOW_CODE: "1", ...env },
  });
  const value = values.get(secretKey(wanted));
  return { value: value?.reveal(), secret: value, codes: problems.map(({ code }) => code), text: JSON.stringify(problems), problems };
}

describe("values", () => {
  const rows: Readonly<Record<string, readonly [source: SecretSource, value: unknown]>> = {
    "an environment variable, unchanged": [{ env: "KEY" }, ` ${canary}\n`],
    "a file, without one newline at its end": [{ file: "plain.txt" }, canary],
    "a file from Windows": [{ file: "crlf.txt" }, canary],
    "only one newline is dropped": [{ file: "two-newlines.txt" }, `${canary}\n`],
    "newlines inside stay": [{ file: "key.pem" }, "-----BEGIN-----\nabc\n-----END-----"],
    "a command's output": [{ exec: node(`process.stdout.write("${canary}\\n")`) }, canary],
    "a command gets its arguments without a shell": [{ exec: [...node("console.log(process.argv[1])"), "$HOME;`id` *"] }, "$HOME;`id` *"],
    "a command runs in the folder of dimsync.yaml": [
      { exec: node("console.log(require('fs').readFileSync('plain.txt', 'utf8').trim())") },
      canary,
    ],
    "a command sees the environment": [{ exec: node("console.log(process.env.NUMBER)") }, "5432"],
    "a command that reads its input gets none": [{ exec: node("process.stdin.on('end', () => console.log('end')).resume()") }, "end"],
    "a member of JSON": [{ file: "map.json", pointer: "/a/b~1c" }, canary],
    "an entry of a list": [{ file: "map.json", pointer: "/list/1" }, "y"],
    "a member keeps its JSON type": [{ file: "map.json", pointer: "/n" }, 5432],
    "text as a whole number": [{ env: "NUMBER", type: "integer" }, 5432],
    "text as a number": [{ env: "FRACTION", type: "number" }, 1.5],
    "text as true or false": [{ env: "FLAG", type: "boolean" }, true],
    "a member with its own type": [{ file: "map.json", pointer: "/t", type: "boolean" }, true],
  };
  const env = { KEY: ` ${canary}\n`, NUMBER: "5432", FRACTION: "1.5", FLAG: "true" };
  test.each(Object.entries(rows))("%s", async (_name, [source, value]) => {
    const found = await resolveOne(source, env);
    expect([found.value, found.codes]).toEqual([value, []]);
    expect(`${found.secret} ${JSON.stringify(found.secret)}`).toBe('[secret] "[secret]"');
  });
});

describe("failures never quote the value or the output of a command", () => {
  const rows: Readonly<Record<string, readonly [source: SecretSource, code: string, says?: RegExp]>> = {
    "a variable that is not set": [{ env: "NOPE" }, "E_SECRET_MISSING", /secret env:NOPE: .*is not set/u],
    "a variable that is empty": [{ env: "EMPTY" }, "E_SECRET_MISSING", /counts as missing/u],
    "the name of a member of every object": [{ env: "constructor" }, "E_SECRET_MISSING"],
    "a file that does not exist": [{ file: "nope" }, "E_SECRET_MISSING", /relative to the folder/u],
    "a folder": [{ file: "." }, "E_SECRET_UNREADABLE"],
    "an empty file": [{ file: "empty.txt" }, "E_SECRET_MISSING"],
    "bytes that are not UTF-8": [{ file: "latin1.txt" }, "E_SECRET_UNREADABLE"],
    "a file over 1 MiB": [{ file: "big.txt" }, "E_SECRET_UNREADABLE", /1 MiB/u],
    "a command that does not exist": [{ exec: ["dimsync-no-such-command"] }, "E_SECRET_COMMAND", /not found/u],
    "a command that fails": [
      { exec: node(`console.log("${canary}"); console.error("${canary}"); process.exit(3)`) },
      "E_SECRET_COMMAND",
      /exit code 3/u,
    ],
    "a command that prints nothing": [{ exec: node("") }, "E_SECRET_MISSING"],
    "a command that prints too much": [{ exec: node(`process.stdout.write("${canary}".repeat(200000))`) }, "E_SECRET_COMMAND", /1 MiB/u],
    "a command with a NUL character": [{ exec: [process.execPath, `${canary}\0`] }, "E_SECRET_COMMAND"],
    "a member of a value that is not JSON": [{ file: "plain.txt", pointer: "/a" }, "E_SECRET_POINTER", /not valid JSON/u],
    "a member that does not exist": [{ file: "map.json", pointer: "/a/x" }, "E_SECRET_POINTER"],
    "a member that every object inherits": [{ file: "map.json", pointer: "/constructor" }, "E_SECRET_POINTER"],
    "a member that is null": [{ file: "map.json", pointer: "/none" }, "E_SECRET_POINTER"],
    "a member that is empty": [{ file: "map.json", pointer: "/e" }, "E_SECRET_POINTER"],
    "text that is not a number": [{ env: "KEY", type: "integer" }, "E_SECRET_TYPE", /not a whole number/u],
    "a number that is too large": [{ env: "LARGE", type: "integer" }, "E_SECRET_TYPE"],
    "text that is neither true nor false": [{ env: "KEY", type: "boolean" }, "E_SECRET_TYPE"],
    "no source": [{}, "E_SECRET_SOURCE"],
    "an empty command": [{ exec: [] }, "E_SECRET_SOURCE"],
  };
  test.each(Object.entries(rows))("%s", async (_name, [source, code, says]) => {
    const { codes, text, value } = await resolveOne(source, { EMPTY: "", KEY: canary, LARGE: "12345678901234567890" });
    expect([codes, value]).toEqual([[code], undefined]);
    expect(text).not.toMatch(/canary-4711|12345678901234567890/u);
    if (says !== undefined) expect(text).toMatch(says);
  });
  test.each(["***", "*", "<redacted>", "<secret>", "[secret]", "changeme", "CHANGE_ME", "xxxx", `\${DB_PASSWORD}`, "<your-password>"])(
    "%s is a placeholder",
    async (text) => {
      expect((await resolveOne({ env: "KEY" }, { KEY: text })).codes).toEqual(["E_PLACEHOLDER_SECRET"]);
    },
  );
  test.each(["changeme-not", "a***", "p${x", "<b>"])("%s is a value", async (text) => {
    expect((await resolveOne({ env: "KEY" }, { KEY: text })).value).toBe(text);
  });
});

test("a command does not run unless the environment allows code", async () => {
  const { codes, problems } = await resolveOne({ exec: node(`require("fs").writeFileSync("ran", "")`) }, { DIMSYNC_ALLOW_CODE: "0" });
  expect(codes).toEqual(["E_CODE_NOT_ALLOWED"]);
  expect(problems[0]?.message).toContain("--allow-code");
});

test("equal references share one value, and their command runs once", async () => {
  const folder = writeProject({ "count.txt": "" });
  const exec = node("require('fs').appendFileSync('count.txt', 'x'); console.log(require('fs').readFileSync('count.txt', 'utf8'))");
  const { values } = await resolveSecrets(
    [
      reference({ exec }),
      reference({ exec }),
      reference({ env: "A" }),
      { $secret: { type: "integer", env: "B" } },
      { $secret: { env: "B", type: "integer" } },
    ],
    { folder, env: { A: "a", B: "2", DIMSYNC_ALLOW_CODE: "1" } },
  );
  expect([...values.values()].map((secret) => secret.reveal()).sort()).toEqual([2, "a", "x"]);
});

test("every failure is reported, in the order of the references", async () => {
  const { problems } = await resolveSecrets(
    ["A", "B", "C", "D", "E", "F"].map((env) => reference({ env })),
    { folder: "/", env: { C: "c" } },
  );
  expect(problems.map(({ message }) => message.slice(0, 12))).toEqual(["A", "B", "D", "E", "F"].map((env) => `secret env:${env}`));
});

test("an interruption ends the command and the wait", async () => {
  const controller = new AbortController();
  const folder = writeProject({});
  const exec = node("require('fs').writeFileSync('started', ''); setInterval(() => {}, 1000)");
  const resolving = resolveSecrets([reference({ exec })], { folder, env: { DIMSYNC_ALLOW_CODE: "1" }, signal: controller.signal });
  controller.abort(new Error("interrupted"));
  await expect(resolving).rejects.toThrow("interrupted");
});

test.skipIf(process.platform === "win32")(
  "a relative command is relative to the folder of dimsync.yaml, and must be executable",
  async () => {
    const folder = writeProject({ "bin/get": "#!/bin/sh\necho got\n" });
    const wanted = reference({ exec: ["./bin/get"] });
    const first = await resolveSecrets([wanted], { folder, env: { DIMSYNC_ALLOW_CODE: "1" } });
    expect(first.problems[0]?.message).toContain("is not executable");
    chmodSync(join(folder, "bin/get"), 0o755);
    writeFileSync(join(folder, "ran"), "");
    expect((await resolveSecrets([wanted], { folder, env: { DIMSYNC_ALLOW_CODE: "1" } })).values.get(secretKey(wanted))?.reveal()).toBe(
      "got",
    );
  },
);
