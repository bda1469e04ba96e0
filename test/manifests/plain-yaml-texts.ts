import fc from "fast-check";

/** Scalars, keys and punctuation: what is ordinary in manifests, and what YAML gives a meaning of its own. */
const ordinary = [
  "a",
  "b1",
  "table_7",
  "x y",
  "true",
  "false",
  "null",
  "12",
  "-3",
  "1.5",
  "2027-03-31",
  '"q"',
  "'s'",
  "*email*",
  "ü",
  "http://e.com",
];
const nasty = [
  ...[
    "~",
    "Null",
    "TRUE",
    "yes",
    "0",
    "-0",
    "007",
    "1e3",
    "0x1f",
    "0o7",
    ".5",
    "5.",
    "+1",
    ".inf",
    "-.INF",
    ".nan",
    "12345678901234567890",
    "1_0",
  ],
  ...["''", '""', "'it''s'", '"a\\"b"', '"\\x41"', '"\\u00e4"', "'a", '"b', '"a\\', "a'b", 'a"b', "a\\b", "'a: b'", '"a # b"', "'a'b"],
  ...[
    "-",
    "- ",
    "--",
    "---",
    "...",
    "?",
    "? ",
    ":",
    ": ",
    "::",
    ":a",
    "a:",
    "a :",
    "#",
    " #",
    "#c",
    "a#b",
    "a #b",
    ",",
    "[",
    "]",
    "{",
    "}",
  ],
  ...["&a", "*a", "!t", "!!str 1", "|", ">", "|-", "%a", "@", "`", "<<", "=", "__proto__", "constructor", "a/b", "a.b", "100%", "$secret"],
  ...[
    "\t",
    "\r",
    "\u0000",
    "\u007f",
    "\u0085",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\u{1f600}",
    "\ud800",
    "  ",
    "a  b",
    "a,b",
    "a[0]",
    "(x)",
    "^",
    ";",
  ],
];
const flow = [
  "{}",
  "[]",
  "{ a: 1 }",
  "{a: 1}",
  "{ a: { b: [1, x y] } }",
  "[a, 'b', \"c\"]",
  "{ a: }",
  "{ a }",
  "[a: b]",
  "[a, ]",
  '{"a":1}',
  "{ a: b:c }",
  "{a:b}",
  "[ - ]",
  "{ a: 1 } # c",
  "[#]",
  "{ a: 1, a: 2 }",
];

const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ordinary) },
  { weight: 2, arbitrary: fc.constantFrom(...nasty) },
  { weight: 2, arbitrary: fc.constantFrom(...flow) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...ordinary, ...nasty), { minLength: 2, maxLength: 3 }).map((pieces) => pieces.join("")),
  },
);
const key = fc.oneof({ weight: 8, arbitrary: fc.constantFrom("a", "b", "c", "d", "token") }, { weight: 1, arbitrary: scalar });
const content = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(key, scalar).map(([name, value]) => `${name}: ${value}`) },
  { weight: 4, arbitrary: key.map((name) => `${name}:`) },
  { weight: 2, arbitrary: scalar.map((value) => `- ${value}`) },
  { weight: 2, arbitrary: fc.tuple(key, scalar).map(([name, value]) => `- ${name}: ${value}`) },
  { weight: 1, arbitrary: key.map((name) => `- ${name}:`) },
  { weight: 1, arbitrary: fc.constantFrom("-", "---", "--- ", "--- # c", "", " ", "# c", "#", "...") },
  { weight: 1, arbitrary: scalar },
);
const ending = fc.oneof(
  { weight: 12, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.constantFrom(" ", " # c", "# c", "  #", " #", "\t", "\r", ":", ": ") },
);
/** One line after another, each a step deeper, as deep, or shallower, so that many fit together. */
const line = fc.tuple(fc.constantFrom(0, 0, 0, 2, 2, -2, -4, 1, -1), content, ending);

/** Texts of a few lines. */
export const yamlLines: fc.Arbitrary<string> = fc.array(line, { minLength: 1, maxLength: 7 }).map((lines) => {
  let column = 0;
  return lines
    .map(([step, text, end], index) => {
      column = index === 0 ? 0 : Math.max(0, column + step);
      return `${" ".repeat(column)}${text}${end}`;
    })
    .join("\n");
});

const manifests = [
  `kind: Asset
metadata: { name: warehouse, id: "d-12" }
spec:
  type: snowflake # open
  connection: { account: acme, private_key: hunter2, port: 1.50 }
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
    replicationFrequency: "1h"
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
];

function editLines(text: string, at: number, change: (line: string) => readonly string[]): string {
  const lines = text.split("\n");
  const chosen = at % lines.length;
  return lines.flatMap((line, index) => (index === chosen ? change(line) : [line])).join("\n");
}

/** Manifests with one to four edits anywhere. */
export const mutatedManifest: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...manifests),
    fc.array(fc.tuple(fc.constantFrom(...edits), fc.nat(2000), fc.constantFrom(...ordinary, ...nasty, ...flow, "\n", " ", "  ", "\n  ")), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([manifest, changes]) =>
    changes.reduce((text, [edit, at, piece]) => edit(text, text.length === 0 ? 0 : at % text.length, piece), manifest),
  );
