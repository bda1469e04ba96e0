// The bindings file is in one form, keeps other targets, and is refused with a place if it is damaged.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Binding, parseAddress } from "../../../../src/core/base/model/address.ts";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import {
  type BindingsFile,
  openBindings,
  parseBindingsText,
  printBindings,
  readTarget,
} from "../../../../src/core/records/folder/bindings.ts";
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
  expect(
    text,
  ).toBe(`# Written by dimsync, whole: comments of your own are not kept. Commit it. For each target: the live object of each manifest.
# One line per object, so that git can merge it. Change it with \`dimsync bind\` and \`dimsync unbind\`. Ids and digests, no values.

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

it("writes the file whole: sorted lines in one form, the bindings of other targets, and no comments", async () => {
  const file = await fileWith(`# mine
apiVersion: dimsync/v1
kind: Bindings
targets:
  prod:
    # moved by hand
    Integration/orders: { id: old, secretVersion: 1, sent: { /a: b } }
    'Asset/c':
      id: "3"
  dev:
    Integration/orders: {id: 'x',   }
  old: {}
`);
  const bindings = openBindings(file, "prod");
  await set(bindings, "Integration/orders", { id: "new" });
  await set(bindings, "Asset/d", { id: "d" });
  const written = (await readFile(file, "utf8")).replace(/^#.*\n/gmu, "");
  expect(written).toBe(`
apiVersion: dimsync/v1
kind: Bindings
targets:
  dev:
    Integration/orders: { id: "x" }
  prod:
    Asset/c: { id: "3" }
    Asset/d: { id: "d" }
    Integration/orders: { id: "new" }
`);
});

it("leaves the file as it is if nothing changes", async () => {
  const text = withLines("    # mine\n    Asset/a: { id: '1' }\n");
  const file = await fileWith(text);
  await set(openBindings(file, "prod"), "Asset/a", { id: "1" });
  await set(openBindings(file, "prod"), "Asset/b", undefined);
  expect(await readFile(file, "utf8")).toBe(text);
});

it("adds what a file lacks", async () => {
  for (const text of ["apiVersion: dimsync/v1\nkind: Bindings", "kind: Bindings\ntargets: ~ # none\napiVersion: dimsync/v1\n"]) {
    const file = await fileWith(text);
    await set(openBindings(file, "prod"), "Asset/a", { id: "1" });
    expect(await readFile(file, "utf8")).toContain('targets:\n  prod:\n    Asset/a: { id: "1" }\n');
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
    "a syntax error": [withLines('    Asset/a: { id: "1"\n'), ":5:14", /not valid YAML: This `\{` is never closed/],
    "one address twice": [withLines('    Asset/a: { id: "1" }\n    Asset/a: { id: "2" }\n'), ":6:5", /already on line 5/],
    "a list": ["- a\n", ":1:1", /must be a map/],
    "several documents": ["a: 1\n---\nb: 2\n", ":1:1", /multiple documents/],
    "another version": ["apiVersion: dimsync/v2\nkind: Bindings\n", ":1:13", /apiVersion/],
    "another kind": ["apiVersion: dimsync/v1\nkind: Config\n", ":2:7", /kind is not/],
    "targets as a list": ["apiVersion: dimsync/v1\nkind: Bindings\ntargets: [prod]\n", ":3:10", /targets/],
    "a target as text": ["apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod: x\n", ":4:9", /must be a map of addresses/],
    "no address": [withLines('    orders: { id: "1" }\n'), ":5:5", /not an address/],
    "a line without a map": [withLines("    Asset/a: 1\n"), ":5:14", /must have a map with an id/],
    "a line without anything": [withLines("    Asset/a:\n"), ":5:5", /must have a map with an id/],
    "a number as id": [withLines("    Asset/a: { id: 12 }\n"), ":5:20", /quotes/],
    "no id": [withLines("    Asset/a: { secretVersion: 1 }\n"), ":5:14", /quotes/],
    "a text as secretVersion": [withLines('    Asset/a: { id: a, secretVersion: "1" }\n'), ":5:38", /secretVersion/],
    "a huge secretVersion": [withLines("    Asset/a: { id: a, secretVersion: 12345678901234567890 }\n"), ":5:38", /secretVersion/],
    "sent as text": [withLines("    Asset/a: { id: a, sent: x }\n"), ":5:29", /sent/],
    "a digest that is a map": [withLines("    Asset/a: { id: a, sent: { /x: {} } }\n"), ":5:35", /digest/],
    "an unknown key": [withLines("    Asset/a: { id: a, note: x }\n"), ":5:23", /The keys here are id, secretVersion, sent/],
    "an unknown key at the top": ["apiVersion: dimsync/v1\nkind: Bindings\nowner: x\n", ":3:1", /not known here/],
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
        const printed = printBindings(new Map([[target, new Map(bindings)]]));
        const read = parseBindingsText(printed, "b.yaml");
        const plain = (entries: Iterable<readonly [string, Binding]>): unknown =>
          [...entries].map(([key, value]) => [key, { ...value, ...(value.sent && { sent: Object.entries(value.sent).sort() }) }]).sort();
        expect(plain(readTarget(read, target))).toEqual(plain(bindings));
        expect(printBindings(read.bindings)).toBe(printed);
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
            const printed = printBindings(new Map([["prod", readTarget(text, "prod")]]));
            expect(readTarget(parseBindingsText(printed, "b.yaml"), "prod")).toEqual(readTarget(text, "prod"));
          } catch (error) {
            expect(error).toBeInstanceOf(DimsyncError);
          }
        },
      ),
      { numRuns: runs(75, 5_000) },
    );
  });
});
