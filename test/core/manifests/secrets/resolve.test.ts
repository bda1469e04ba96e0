// Secrets are read late, once, and never quoted.
import { describe, expect, test } from "vitest";
import { type SecretReference, type SecretSource, secretKey } from "../../../../src/core/base/model/settings/secret.ts";
import { resolveSecrets } from "../../../../src/core/manifests/secrets/resolve.ts";
import { writeProject } from "../../../support/project-folder.ts";

const canary = "canary-4711";
const reference = (source: SecretSource): SecretReference => ({ $secret: { ...source } });

const files = {
  "plain.txt": `${canary}\n`,
  "crlf.txt": `${canary}\r\n`,
  "two-newlines.txt": `${canary}\n\n`,
  "empty.txt": "\n",
  "key.pem": "-----BEGIN-----\nabc\n-----END-----\n",
  "latin1.txt": Buffer.from([0x63, 0xff]),
  "big.txt": "x".repeat(1024 * 1024 + 1),
};

async function resolveOne(source: SecretSource, env: Readonly<Record<string, string>> = {}) {
  const wanted = reference(source);
  const { values, problems } = await resolveSecrets([wanted], {
    folder: writeProject(files),
    env,
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
  };
  const env = { KEY: ` ${canary}\n` };
  test.each(Object.entries(rows))("%s", async (_name, [source, value]) => {
    const found = await resolveOne(source, env);
    expect([found.value, found.codes]).toEqual([value, []]);
    expect(`${found.secret} ${JSON.stringify(found.secret)}`).toBe('[secret] "[secret]"');
  });
});

describe("failures never quote the value", () => {
  const rows: Readonly<Record<string, readonly [source: SecretSource, code: string, says?: RegExp]>> = {
    "a variable that is not set": [{ env: "NOPE" }, "E_SECRET_MISSING", /secret env:NOPE: .*is not set/u],
    "a variable that is empty": [{ env: "EMPTY" }, "E_SECRET_MISSING", /counts as missing/u],
    "the name of a member of every object": [{ env: "constructor" }, "E_SECRET_MISSING"],
    "a file that does not exist": [{ file: "nope" }, "E_SECRET_MISSING", /relative to the folder/u],
    "a folder": [{ file: "." }, "E_SECRET_MISSING"],
    "an empty file": [{ file: "empty.txt" }, "E_SECRET_MISSING"],
    "bytes that are not UTF-8": [{ file: "latin1.txt" }, "E_SECRET_MISSING"],
    "a file over 1 MiB": [{ file: "big.txt" }, "E_SECRET_MISSING", /1 MiB/u],
    "no source": [{}, "E_MISSING_KEY"],
  };
  test.each(Object.entries(rows))("%s", async (_name, [source, code, says]) => {
    const { codes, text, value } = await resolveOne(source, { EMPTY: "", KEY: canary });
    expect([codes, value]).toEqual([[code], undefined]);
    expect(text).not.toMatch(/canary-4711/u);
    if (says !== undefined) expect(text).toMatch(says);
  });
  test.each(["***", "*", "<redacted>", "<secret>", "[secret]", "changeme", "CHANGE_ME", "xxxx", `\${DB_PASSWORD}`, "<your-password>"])(
    "%s is a placeholder",
    async (text) => {
      expect((await resolveOne({ env: "KEY" }, { KEY: text })).codes).toEqual(["E_SECRET_MISSING"]);
    },
  );
  test.each(["changeme-not", "a***", "p${x", "<b>"])("%s is a value", async (text) => {
    expect((await resolveOne({ env: "KEY" }, { KEY: text })).value).toBe(text);
  });
});

test("equal references share one value", async () => {
  const wanted = [reference({ env: "A" }), reference({ env: "A" }), reference({ env: "B" })];
  const { values } = await resolveSecrets(wanted, { folder: "/", env: { A: "a", B: "b" } });
  expect([...values.values()].map((secret) => secret.reveal())).toEqual(["a", "b"]);
});

test("every failure is reported, in the order of the references", async () => {
  const { problems } = await resolveSecrets(
    ["A", "B", "C", "D", "E", "F"].map((env) => reference({ env })),
    { folder: "/", env: { C: "c" } },
  );
  expect(problems.map(({ message }) => message.slice(0, 12))).toEqual(["A", "B", "D", "E", "F"].map((env) => `secret env:${env}`));
});

test("an interruption ends the reads", async () => {
  const signal = AbortSignal.abort(new Error("interrupted"));
  await expect(resolveSecrets([reference({ env: "A" })], { folder: "/", env: { A: "a" }, signal })).rejects.toThrow("interrupted");
});
