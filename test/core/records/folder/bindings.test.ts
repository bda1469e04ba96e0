import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Binding } from "../../../../src/core/model/address.ts";
import { parseAddress } from "../../../../src/core/model/address.ts";
import { DimsyncError } from "../../../../src/core/model/errors.ts";
import { type BindingsFile, openBindings } from "../../../../src/core/records/folder/bindings.ts";
import { changeTarget } from "../../../../src/core/records/folder/bindings-edit.ts";
import { emptyText, parseBindingsText, readTarget } from "../../../../src/core/records/folder/bindings-text.ts";
import fc, { anyCodePoint } from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { tempFolder } from "../child.ts";

const warehouse: Binding = { id: "d-12", secretVersion: 4, sent: { "/name": "sha256:aa", "/connection/a~1b": "sha256:bb" } };

const set = (bindings: BindingsFile, address: string, binding: Binding | undefined): Promise<void> =>
  bindings.write(new Map([[address, binding]]));

async function fileWith(text: string): Promise<string> {
  const file = join(await tempFolder(), "dimsync.bindings.yaml");
  await writeFile(file, text);
  return file;
}

const withLines = (lines: string): string => `apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod:\n${lines}`;

it("treats a missing file as empty, and does not create it when reading", async () => {
  const folder = await tempFolder();
  expect([...(await openBindings(join(folder, "b.yaml"), "prod").read())]).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

it("writes sorted lines, one per object, with the header", async () => {
  const file = join(await tempFolder(), "b.yaml");
  const bindings = openBindings(file, "prod");
  await set(bindings, "Integration/orders", { id: "8f1c" });
  await set(bindings, "Asset/warehouse", warehouse);
  await set(bindings, "Tag/pii#Integration/orders", { id: "true" });
  await set(openBindings(file, "dev"), "Tag/pii", { id: "12345678901234567890" });
  const text = await readFile(file, "utf8");
  expect(text).toBe(`# Written by dimsync; commit it. For each target: the live object of each manifest. Ids and digests, no values.
# One line per object, so that git can merge it. Change it with \`dimsync bind\` and \`dimsync unbind\`.

apiVersion: dimsync/v1
kind: Bindings
targets:
  dev:
    Tag/pii: { id: "12345678901234567890" }
  prod:
    Asset/warehouse: { id: "d-12", secretVersion: 4, sent: { "/connection/a~1b": "sha256:bb", "/name": "sha256:aa" } }
    Integration/orders: { id: "8f1c" }
    "Tag/pii#Integration/orders": { id: "true" }
`);
  const again = await openBindings(file, "prod").read();
  expect(again.get("Asset/warehouse")).toEqual(warehouse);
  expect([...again.keys()]).toEqual(["Asset/warehouse", "Integration/orders", "Tag/pii#Integration/orders"]);
});

it("keeps comments, unknown members and the lines of other targets", async () => {
  const file = await fileWith(`# mine
apiVersion: dimsync/v1
kind: Bindings
owner: platform   # ours
size: 12345678901234567890
targets:
  dev:
    Integration/orders: {id: 'x',   note: kept}
  prod:
    # moved by hand
    Integration/orders: { id: old, note: { by: dana }, secretVersion: 1, sent: { /a: b } }
`);
  const bindings = openBindings(file, "prod");
  await set(bindings, "Integration/orders", { id: "new" });
  await set(bindings, "Asset/w", { id: "d" });
  expect(await readFile(file, "utf8")).toBe(`# mine
apiVersion: dimsync/v1
kind: Bindings
owner: platform   # ours
size: 12345678901234567890
targets:
  dev:
    Integration/orders: {id: 'x',   note: kept}
  prod:
    Asset/w: { id: "d" }
    # moved by hand
    Integration/orders: { id: "new", note: { by: dana } }
`);
});

it("changes only the lines of the addresses, whatever the form of the others", async () => {
  const before = `---
# mine

apiVersion: dimsync/v1
targets:   # all

  dev:
      "Asset/a": { id: dev }
  prod: # the real one

    # team a
    Asset/a:   {id: '1',sent: {/x: "sha256:aa"}}   # a
    'Asset/c': { id: "3", later: [1, 2] } # c

    # team d
    Asset/d:
      # by hand
      id: "4"
      later: x, y # kept
      secretVersion: 1
    # end of prod
kind: Bindings

# end`;
  const file = await fileWith(before);
  const bindings = openBindings(file, "prod");
  await set(bindings, "Asset/b", { id: "2" });
  const added = before.replace("    'Asset/c'", `    Asset/b: { id: "2" }\n    'Asset/c'`);
  expect(await readFile(file, "utf8")).toBe(added);
  await set(bindings, "Asset/c", { id: "5", secretVersion: 1 });
  const changed = added.replace(/'Asset\/c'.*/u, 'Asset/c: { id: "5", later: [1, 2], secretVersion: 1 } # c');
  expect(await readFile(file, "utf8")).toBe(changed);
  await set(bindings, "Asset/d", { id: "6" });
  const inOneLine = changed.replace(
    / {4}Asset\/d:[\s\S]*secretVersion: 1\n/u,
    '      # by hand\n    Asset/d: { id: "6", later: "x, y" }\n',
  );
  expect(await readFile(file, "utf8")).toBe(inOneLine);
  await set(openBindings(file, "new"), "Asset/a", { id: "1" });
  const withTarget = inOneLine.replace("  prod:", '  new:\n    Asset/a: { id: "1" }\n  prod:');
  expect(await readFile(file, "utf8")).toBe(withTarget);
  await set(bindings, "Asset/b", undefined);
  await set(openBindings(file, "new"), "Asset/a", undefined);
  expect(await readFile(file, "utf8")).toBe(inOneLine.replace('    Asset/b: { id: "2" }\n', "").replace("  prod:", "  new: {}\n  prod:"));
});

it("sorts the lines that a person has merged, each with its comments, and keeps line breaks of Windows", async () => {
  const file = await fileWith(
    withLines("    Asset/c: { id: '3' }\n    # b\n    Asset/b: { id: '2' }\n    Asset/a: { id: '1' } # a").replaceAll("\n", "\r\n"),
  );
  await set(openBindings(file, "prod"), "Asset/d", { id: "4" });
  expect(await readFile(file, "utf8")).toBe(
    withLines(
      "    Asset/a: { id: '1' } # a\n    # b\n    Asset/b: { id: '2' }\n    Asset/c: { id: '3' }\n    Asset/d: { id: \"4\" }\n",
    ).replaceAll("\n", "\r\n"),
  );
});

it("adds what a file lacks", async () => {
  const written = 'targets:\n  prod:\n    Asset/a: { id: "1" }\n';
  for (const [text, expected] of [
    ["apiVersion: dimsync/v1\nkind: Bindings", `apiVersion: dimsync/v1\nkind: Bindings\n${written}`],
    [
      "kind: Bindings\ntargets: ~ # none\napiVersion: dimsync/v1\n",
      `kind: Bindings\n${written.replace(":", ": # none")}apiVersion: dimsync/v1\n`,
    ],
    [
      "# mine\n{ apiVersion: dimsync/v1, kind: Bindings, size: 0x10 }\n",
      `# mine\napiVersion: dimsync/v1\nkind: Bindings\nsize: 0x10\n${written}`,
    ],
  ] as const) {
    const file = await fileWith(text);
    await set(openBindings(file, "prod"), "Asset/a", { id: "1" });
    expect(await readFile(file, "utf8")).toBe(expected);
  }
});

describe("refuses, with the position, and does not write to", () => {
  const cases: Readonly<Record<string, readonly [text: string, place: string, reason: RegExp]>> = {
    "an empty file": ["", ":1:1", /is empty/],
    "a file of comments": ["# nothing\n", ":1:1", /is empty/],
    "a merge conflict": [
      withLines('<<<<<<< HEAD\n    Asset/a: { id: "1" }\n=======\n    Asset/a: { id: "2" }\n>>>>>>> x\n'),
      ":5:1",
      /merge conflict/,
    ],
    "a syntax error": [withLines('    Asset/a: { id: "1"\n'), ":6:1", /not valid YAML/],
    "one address twice": [withLines('    Asset/a: { id: "1" }\n    Asset/a: { id: "2" }\n'), ":6:5", /unique/],
    "a list": ["- a\n", ":1:1", /must be a map/],
    "several documents": ["a: 1\n---\nb: 2\n", ":2:1", /multiple documents/],
    "another version": ["apiVersion: dimsync/v2\nkind: Bindings\n", ":1:13", /apiVersion/],
    "another kind": ["apiVersion: dimsync/v1\nkind: Config\n", ":2:7", /kind is not/],
    "targets as a list": ["apiVersion: dimsync/v1\nkind: Bindings\ntargets: [prod]\n", ":3:10", /targets/],
    "a target as text": ["apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod: x\n", ":4:9", /must be a map of addresses/],
    "no address": [withLines('    orders: { id: "1" }\n'), ":5:5", /not an address/],
    "a line without a map": [withLines("    Asset/a: 1\n"), ":5:14", /must have a map with an id/],
    "a line without anything": [withLines("    Asset/a:\n"), ":5:13", /must have a map with an id/],
    "a number as id": [withLines("    Asset/a: { id: 12 }\n"), ":5:20", /quotes/],
    "no id": [withLines("    Asset/a: { secretVersion: 1 }\n"), ":5:14", /quotes/],
    "a text as secretVersion": [withLines('    Asset/a: { id: a, secretVersion: "1" }\n'), ":5:38", /secretVersion/],
    "a huge secretVersion": [withLines("    Asset/a: { id: a, secretVersion: 12345678901234567890 }\n"), ":5:38", /secretVersion/],
    "sent as text": [withLines("    Asset/a: { id: a, sent: x }\n"), ":5:29", /sent/],
    "a digest that is a map": [withLines("    Asset/a: { id: a, sent: { /x: {} } }\n"), ":5:35", /digest/],
    "an alias": [withLines("    Asset/a: &a { id: a }\n    Asset/b: *a\n"), ":6:14", /alias/],
  };
  for (const [name, [text, place, reason]] of Object.entries(cases)) {
    it(name, async () => {
      const file = await fileWith(text);
      const error: unknown = await openBindings(file, "prod")
        .read()
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(DimsyncError);
      expect(error).toMatchObject({ code: "E_BINDINGS_FILE", exit: 1, message: expect.stringMatching(reason) });
      expect(error).toMatchObject({ message: expect.stringContaining(`${file}${place}: `) });
      expect(await readFile(file, "utf8")).toBe(text);
    });
  }
});

describe("two addresses of a kind with the same id", () => {
  it("are refused in the file, with the position of the second", async () => {
    const file = await fileWith(withLines("    Asset/a: { id: x }\n    Integration/a: { id: x }\n    Asset/b: { id: x }\n"));
    await expect(openBindings(file, "prod").read()).rejects.toMatchObject({
      code: "E_DUPLICATE_BINDING",
      message: expect.stringContaining(`${file}:7:5: Asset/b and Asset/a`),
    });
    expect([...(await openBindings(file, "dev").read())]).toEqual([]);
  });

  it("are refused when the second is set, and nothing is written", async () => {
    const text = withLines('    Asset/a: { id: "x" }\n');
    const file = await fileWith(text);
    const bindings = openBindings(file, "prod");
    await expect(set(bindings, "Asset/b", { id: "x" })).rejects.toMatchObject({ code: "E_DUPLICATE_BINDING", exit: 1 });
    expect((await bindings.read()).has("Asset/b")).toBe(false);
    expect(await readFile(file, "utf8")).toBe(text);
    await set(bindings, "Integration/b", { id: "x" });
    expect((await openBindings(file, "prod").read()).get("Integration/b")).toEqual({ id: "x" });
  });
});

it("reports the folder of the file if it is a file", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "config"), "");
  await expect(openBindings(join(folder, "config", "b.yaml"), "prod").read()).rejects.toMatchObject({ code: "E_BINDINGS_FILE" });
});

it("never replaces a file that has become unreadable meanwhile", async () => {
  const file = await fileWith(withLines('    Asset/a: { id: "1" }\n'));
  const bindings = openBindings(file, "prod");
  await bindings.read();
  await writeFile(file, "<<<<<<< HEAD\n");
  await expect(set(bindings, "Asset/b", { id: "2" })).rejects.toMatchObject({ code: "E_BINDINGS_FILE" });
  expect(await readFile(file, "utf8")).toBe("<<<<<<< HEAD\n");
  await writeFile(file, withLines('    Asset/c: { id: "3" }\n'));
  await set(bindings, "Asset/d", { id: "4" });
  expect([...(await openBindings(file, "prod").read()).keys()]).toEqual(["Asset/c", "Asset/d"]);
});

it("merges with changes of another run since the file was read", async () => {
  const file = join(await tempFolder(), "b.yaml");
  const [one, two] = [openBindings(file, "prod"), openBindings(file, "prod")];
  await Promise.all([one.read(), two.read()]);
  await set(one, "Asset/a", { id: "1" });
  await set(two, "Asset/b", { id: "2" });
  await one.write(
    new Map([
      ["Asset/b", undefined],
      ["Asset/c", { id: "3" }],
    ]),
  );
  expect([...(await openBindings(file, "prod").read()).keys()]).toEqual(["Asset/a", "Asset/c"]);
});

describe("for any names", () => {
  const name = fc.oneof(
    fc.constantFrom(
      "__proto__",
      "constructor",
      "a/b",
      "a.b",
      "100%",
      "..",
      " x ",
      "ü",
      "true",
      "null",
      "1",
      "a: b",
      "a #b",
      "-",
      "?",
      "x\ny\n\nz",
      "\u0085",
      "\u2028",
      "\ufeff",
      "\u0000",
    ),
    fc.string({ unit: anyCodePoint, minLength: 1 }),
    fc.string({ minLength: 1000, maxLength: 2000 }),
  );
  const binding: fc.Arbitrary<Binding> = fc.record(
    {
      id: name,
      secretVersion: fc.nat(),
      sent: fc.array(fc.tuple(name, name), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
    },
    { requiredKeys: ["id"] },
  );
  const address = fc
    .tuple(fc.constantFrom("Asset", "Tag"), name)
    .map(([kind, text]) => `${kind}/${text}`)
    .filter((text) => parseAddress(text) !== undefined);
  const anyBindings = fc
    .uniqueArray(fc.tuple(address, binding), { selector: ([text]) => text, maxLength: 6 })
    .filter((bindings) => new Set(bindings.map(([, { id }]) => id)).size === bindings.length);

  it("a printed file is read as the same bindings, and printing it again changes nothing", () => {
    fc.assert(
      fc.property(anyBindings, name, (bindings, target) => {
        const printed = changeTarget(parseBindingsText(emptyText, "b.yaml"), target, new Map(bindings)).text;
        const read = parseBindingsText(printed, "b.yaml");
        const plain = (entries: Iterable<readonly [string, Binding]>): unknown =>
          [...entries].map(([key, value]) => [key, { ...value, ...(value.sent && { sent: Object.entries(value.sent).sort() }) }]).sort();
        expect(plain(readTarget(read, target))).toEqual(plain(bindings));
        expect(changeTarget(read, target, new Map(bindings)).text).toBe(printed);
        expect(printed.split("\n").filter((line) => line.includes(" id: ")).length).toBe(bindings.length);
      }),
      { numRuns: runs(25, 1_500) },
    );
  });

  it("a damaged file causes a DimsyncError or is read, and never another error", () => {
    const good = withLines('    Asset/a: { id: "1", secretVersion: 2, sent: { "/x": "sha256:aa" } }\n    Tag/pii: { id: "2" }\n');
    fc.assert(
      fc.property(
        fc.nat(good.length),
        fc.nat(20),
        fc.oneof(
          fc.string(),
          fc.constantFrom("&a", "*a", "<<: ", "? ", "!!set ", "!!binary ", "---\n", "%", "[", "{", "\t", '"', "- ", "|", ">"),
        ),
        (at, length, insert) => {
          try {
            const text = parseBindingsText(good.slice(0, at) + insert + good.slice(at + length), "b.yaml");
            readTarget(text, "prod");
            const changed = changeTarget(text, "prod", new Map([["Asset/new", { id: "9" }]])).text;
            expect(readTarget(parseBindingsText(changed, "b.yaml"), "prod").get("Asset/new")).toEqual({ id: "9" });
          } catch (error) {
            expect(error).toBeInstanceOf(DimsyncError);
          }
        },
      ),
      { numRuns: runs(75, 5_000) },
    );
  });
});
