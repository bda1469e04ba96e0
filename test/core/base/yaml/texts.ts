import fc from "../../../support/fast-check.ts";
import { brokenFlow, lineBreak } from "./flow-texts.ts";
import { ending, flow, key, nasty, ordinary, scalar } from "./pieces.ts";

const content = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(key, brokenFlow).map(([name, value]) => `${name}:${value}`) },
  { weight: 2, arbitrary: brokenFlow.map((value) => `-${value}`) },
  { weight: 6, arbitrary: fc.tuple(key, scalar).map(([name, value]) => `${name}: ${value}`) },
  { weight: 4, arbitrary: key.map((name) => `${name}:`) },
  { weight: 2, arbitrary: scalar.map((value) => `- ${value}`) },
  { weight: 2, arbitrary: fc.tuple(key, scalar).map(([name, value]) => `- ${name}: ${value}`) },
  { weight: 1, arbitrary: key.map((name) => `- ${name}:`) },
  { weight: 1, arbitrary: fc.constantFrom("-", "---", "--- ", "--- # c", "", " ", "# c", "#", "...") },
  { weight: 1, arbitrary: scalar },
);
/** One line after another, each a step deeper, as deep, or shallower, so that many fit together. */
const line = fc.tuple(fc.constantFrom(0, 0, 0, 2, 2, -2, -4, 1, -1), content, ending);

function linesOf(lines: fc.Arbitrary<readonly (readonly [step: number, text: string, end: string])[]>): fc.Arbitrary<string> {
  return lines.map((all) => {
    let column = 0;
    return all
      .map(([step, text, end], index) => {
        column = index === 0 ? 0 : Math.max(0, column + step);
        return `${" ".repeat(column)}${text}${end}`;
      })
      .join("\n");
  });
}

/** Texts of a few lines. */
export const yamlLines: fc.Arbitrary<string> = linesOf(fc.array(line, { minLength: 1, maxLength: 7 }));

const manifests = [
  `kind: Asset
metadata: { name: warehouse, id: "d-12" }
spec:
  type: snowflake # open
  connection: { account: analytics, private_key: hunter2, port: 1.50 }
  tokens:
    - { $secret: { env: A, b: hunter2 }, z: [1, "two\\/\\n"] }
    - 'it''s ü'
`,
  `# yaml-language-server: $schema=../schema/manifest.schema.json
apiVersion: dimsync/v1
kind: Integration
metadata:
  name: orders # local
  labels: { domain: sales }
  id: "8f1c"
spec:
  destination: { asset: warehouse }
  create:
    replicationFrequency: "60"
    enabled: false
    sourceConfig:
      owners: [{ user: dana@example.com }]
      connection: { hostname: db.internal, port: 5432,
                    password: { $secret: { env: ORDERS_DB_PASSWORD } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii }
spec:
  name: PII
  resources:
    - integration: orders
    - integrations: { labels: { domain: finance }, names: ["shop-*"] }
    - dataAsset: { id: "da-7" }
`,
  `kind: SchemaConfig
metadata: { name: shops }
spec:
  rules:
  - id: core
    match: { schema: public, table: [orders, "order_*"] }
    set: { enabled: true }
  - match: { table: "audit_*" }
    expires: 2027-03-31
    ignore: true
  schemas:
    public:
      enabled: true
      tables:
        customers:
          enabled: true

          columns:
            email: { enabled: true, hashed: true }
            "a.b": {enabled: true}
            'it''s':
              hashed: false
`,
  `kind: SchemaConfig
metadata: { name: wrapped }
spec:
  rules:
    - id: live
      match:
        schema: [public]
        table:
          [orders, users, "a b",
           payments, 2027-03-31, true,

           # the last one
           x]
      set: {
        enabled: true, # on
        "hashed": false,
      }
    - match: { table: [
        a, b ] }
      reason: &why |
        Two lines,
          one deeper

        and an end.
    - match: &tables
        table: [c, d]
      reason: *why
      note: >-
        Folded
        text.

        More.
    - match: *tables
  tokens: [ # all
    { $secret: { env: A,
        token: hunter2 } },
    { y: [], x:
        c }
  ]
`,
];

type Edit = (text: string, at: number, piece: string) => string;
const edits: readonly Edit[] = [
  (text, at, piece) => text.slice(0, at) + piece + text.slice(at),
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, piece) => text.slice(0, at) + piece + text.slice(at + piece.length),
  (text, at) => editLines(text, at, (line) => [line, line]),
  (text, at) => editLines(text, at, () => []),
  (text, at) => editLines(text, at, (line) => [`  ${line}`]),
  (text, at) => editLines(text, at, (line) => [line.replace(/^ {1,2}/u, "")]),
  (text, at, piece) => editLines(text, at, (line) => [line.replace(/[^ ].*$/u, "") + piece, line]),
  (text, at) => text.slice(0, at),
  editFlow,
  editFlow,
  editFlow,
];

/** Puts a piece before or behind the next sign of a flow collection. */
function editFlow(text: string, at: number, piece: string): string {
  const sign = text.slice(at).search(/[[\]{},:]/u);
  const place = sign < 0 ? at : at + sign + (at % 2);
  return text.slice(0, place) + piece + text.slice(place);
}

function editLines(text: string, at: number, change: (line: string) => readonly string[]): string {
  const lines = text.split("\n");
  const chosen = at % lines.length;
  return lines.flatMap((line, index) => (index === chosen ? change(line) : [line])).join("\n");
}

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ordinary, ...nasty, ...flow, "\n", " ", "  ", "\n  ") },
  { weight: 1, arbitrary: lineBreak },
);

const anchored = fc.constantFrom("&x ", "&y ", "&x ", "");
const indented = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom("text", "more text", "a: b", "- c", '"e\\', "# d", "  deeper") },
      { weight: 2, arbitrary: fc.constantFrom("", " ", "      ") },
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((lines) => lines.map((text) => (text.trim() === "" ? text : `    ${text}`)).join("\n"));
const blockScalar = fc
  .tuple(anchored, fc.constantFrom("|", ">", "|-", ">-", "|", ">", "| # c", "|+", ">2"), indented)
  .map(([at, header, lines]) => `${at}${header}\n${lines}`);
const alias = fc.constantFrom("*x", "*y", "[*x, 1]", "{ a: *y }", "*x # c", "&x *y");
const member = fc.oneof(
  { weight: 3, arbitrary: blockScalar.map((value) => `: ${value}`) },
  { weight: 2, arbitrary: fc.tuple(anchored, scalar).map(([at, value]) => `: ${at}${value}`) },
  { weight: 3, arbitrary: alias.map((value) => `: ${value}`) },
  { weight: 1, arbitrary: anchored.map((at) => `: ${at}\n  b: 1\n  a: *x`) },
  { weight: 1, arbitrary: blockScalar.map((value) => `:\n  - c\n  - ${value}`) },
  { weight: 1, arbitrary: fc.constantFrom(":", ": &x", ":\n  - &x d: 1", ":\n- &y\n  - *x\n- *y") },
);

/** Maps of block scalars, anchors and aliases, half of them with an edit anywhere. */
export const blocksAndAnchors: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("x: &x 1\ny: &y { b: 1, a: [x y] }\n", "x: &x\n  d: 1\ny: &y\n- e\n- f\n", "x: &x |\n  a\n\ny: &y 'b'\n"),
    fc.array(member, { minLength: 1, maxLength: 5 }),
    fc.option(fc.tuple(fc.constantFrom(...edits), fc.nat(200), piece)),
  )
  .map(([head, members, change]) => {
    const text = head + members.map((value, index) => `${"abcde"[index]}${value}\n`).join("");
    if (change === null) return text;
    const [edit, at, inserted] = change;
    return edit(text, at % text.length, inserted);
  });

/** Manifests with one to four edits anywhere. */
export const mutatedManifest: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...manifests), fc.array(fc.tuple(fc.constantFrom(...edits), fc.nat(2000), piece), { minLength: 1, maxLength: 4 }))
  .map(([manifest, changes]) =>
    changes.reduce((text, [edit, at, piece]) => edit(text, text.length === 0 ? 0 : at % text.length, piece), manifest),
  );

const foldedLine = fc.tuple(
  fc.constantFrom(
    "\n    ",
    "\n  ",
    "\n\n    ",
    " \n\n\n   ",
    "\n  \n     ",
    "\n",
    "\n      \n ",
    " # c\n    ",
    "\n    # ",
    "\n\t",
    "\n  \t",
  ),
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom("text", "more text", "it''s", "a - b", "- c", "#d", "e#f", "true", "12", "g:h", "\\n", '\\"', "ü", "? i"),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "",
        " ",
        "j: k",
        "l:",
        "'",
        '"',
        "---",
        "...",
        "{m: n}",
        "[o",
        "o]",
        "&x p",
        "*y",
        "| q",
        "r\\",
        "\r",
        "!t",
      ),
    },
  ),
);
const foldedText = fc
  .tuple(fc.constantFrom("text", "true", "12", "-3", "a b", "~", "x:y", ""), fc.array(foldedLine, { minLength: 1, maxLength: 4 }))
  .map(([first, lines]) => first + lines.map((parts) => parts.join("")).join(""));
const folded = fc.tuple(fc.constantFrom("", "", '"', '"', "'"), foldedText).map(([quote, text]) => quote + text + quote);
const foldedPlaces: readonly ((value: string) => string)[] = [
  (value) => `a: ${value}\nb: 1\n`,
  (value) => `a:\n  ${value}\nb: 1\n`,
  (value) => `a:\n  - ${value}\n  - c: ${value}\nb: ${value}`,
  (value) => `- ${value}\n-\n  ${value}\n- a: 1\n  b:\n    ${value}\n`,
  (value) => `a: &x ${value}\nb: *x\n`,
  (value) => `a: [ 1, ${value}, 2 ]\nb: { c: ${value} }\n`,
  (value) => `a:\n  b: { c: [${value}] } # d\n  e: ${value} # f\n`,
];

/** Scalars over several lines, in block and flow collections, some with what ends or breaks them. */
export const foldedScalars: fc.Arbitrary<string> = fc.tuple(fc.constantFrom(...foldedPlaces), folded).map(([place, value]) => place(value));
