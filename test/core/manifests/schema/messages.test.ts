// A wrong value has a message that says what is expected.
import { expect, test } from "vitest";
import { asset, integration, mysql, shops, testProblems } from "../problem-table.ts";
import { load, manifest } from "../project-on-disk.ts";

const postgres = (connection: string) =>
  integration("    enabled: false", `    sourceConfig: { type: postgres, name: a, connection: ${connection} }`, "    sourceSettings: {}");

testProblems({
  // Types and values
  "a date that does not exist": [
    shops("  rules:", "    - { match: { table: a }, ignore: true, expires: 2027-02-30 }"),
    ["7:53 E_WRONG_VALUE"],
    /not a date that exists/u,
  ],
  "a NUL character": [asset('  description: "a\\0b"'), ["6:16 E_WRONG_VALUE"], /NUL/u],
  "a NUL character in a key": [shops('  schemas: { "a\\0": { enabled: true } }'), ["6:14 E_WRONG_VALUE"], /NUL/u],
  "yes instead of true": [integration("    enabled: yes", ...mysql.slice(1)), ["10:14 E_WRONG_TYPE"], /write true without quotes/u],
  "a number in quotes": [asset('  secretVersion: "4"'), ["6:18 E_WRONG_TYPE"], /Remove the quotes/u],
  "nothing after the colon": [asset("  type:"), ["6:3 E_WRONG_TYPE"], /but is empty/u],
  "a label that is a number": [asset().replace("name: wh", "name: a, labels: { tier: 1 }"), ["3:38 E_WRONG_TYPE"], /Put it in quotes/u],
  "text instead of a list": [shops("  rules: a"), ["6:10 E_WRONG_TYPE"], /a list, but is a string/u],
  "a port that is not a number": [postgres("{ port: high }"), ["11:66 E_WRONG_TYPE"], /a whole number or a \$secret/u],
  "a value outside an enumeration": [asset("  connectionType: sourc"), ["6:19 E_WRONG_VALUE"], /Did you mean source\?/u],
  "a negative secretVersion": [asset("  secretVersion: -1"), ["6:18 E_WRONG_VALUE"], /at least 0/u],
  "an empty text": [manifest("Asset", "a", 'spec: { name: "" }'), ["4:15 E_WRONG_VALUE"], /empty/u],
  "an invalid date": [
    shops("  rules:", "    - { match: { table: a }, set: { enabled: true }, expires: 2027-13-01 }"),
    ["7:63 E_WRONG_VALUE"],
    /YYYY-MM-DD/u,
  ],
  "a mode that does not exist": [
    shops("  unreviewed: disabled"),
    ["6:15 E_WRONG_VALUE"],
    /must be `report`, `warn`, `error` or `disable`, but is "disabled"/u,
  ],
  "hashed in a rule on tables": [
    shops("  rules:", "    - match: { table: a }", "      set: { hashed: true }"),
    ["8:14 E_WRONG_VALUE"],
    /for columns only/u,
  ],

  // Secrets
  "a literal password": [postgres("{ password: hunter2 }"), ["11:70 E_LITERAL_SECRET"], /\$secret: \{ env: NAME \}/u],
  ...Object.fromEntries(
    [
      "pass",
      "pwd",
      "db_pass",
      "private-key",
      "api-key",
      "ssh_key",
      "storageKey",
      "credentials",
      "credential",
      "accessKey",
      "access_key",
      "encryption_key",
      "sas",
      "bearer",
    ].map((name) => [
      `a literal ${name}`,
      [asset(`  connection: { ${name}: hunter2 }`), [`6:${name.length + 19} E_LITERAL_SECRET`], /according to its name/u] as const,
    ]),
  ),
  ...Object.fromEntries(
    [
      "postgres://app:hunter2@db/orders",
      "Server=x;Password=hunter2;",
      "jdbc:postgresql://db/x?user=a&password=hunter2",
      "AccountName=x;AccountKey=hunter2==",
    ].map((value) => [
      `a literal ${value.slice(0, 8)}…`,
      [asset(`  connection: { a: "${value}" }`), ["6:20 E_LITERAL_SECRET"], /contains a password/u] as const,
    ]),
  ),
  "a private key": [
    asset("  connection:", "    a: |", "      -----BEGIN PRIVATE KEY-----", "      hunter2", "      -----END PRIVATE KEY-----"),
    ["7:8 E_LITERAL_SECRET"],
  ],
  "what only looks like a secret": [
    asset("  connection: { bypass: a, passive: b, access_key_id: c, a: 'https://db.example.com/x?a=b', b: 'password: see the vault' }"),
    [],
  ],
  "a secret number": [asset("  connection: { api_key: 12345 }"), ["6:26 E_LITERAL_SECRET"]],
  "a secret below a secret name is reported once": [asset("  connection: { tokens: { a: [x, y], b: z } }"), ["6:31 E_LITERAL_SECRET"]],
  "a secret behind an alias": [asset("  connection: { a: &x hunter2, token: *x }"), ["6:39 E_LITERAL_SECRET"]],
  "a value instead of a source": [asset("  connection: { a: { $secret: hunter2 } }"), ["6:31 E_LITERAL_SECRET"]],
  "a secret from two sources": [
    asset("  connection: { a: { $secret: { env: A, file: b } } }"),
    ["6:22 E_MISSING_KEY"],
    /exactly one of `env` and `file`/u,
  ],
  "an unknown member of a source": [
    asset("  connection: { a: { $secret: { env: A, value: hunter2 } } }"),
    ["6:41 E_UNKNOWN_KEY"],
    /Known here: env, file\./u,
  ],
  "a member beside $secret": [asset("  connection: { a: { $secret: { env: A }, b: c } }"), ["6:43 E_UNKNOWN_KEY"]],
  "a secret under an unknown key": [asset("  password: hunter2"), ["6:13 E_LITERAL_SECRET", "6:3 E_UNKNOWN_KEY"]],

  // Variables
  "a variable without a value": [asset(`  description: \${var.descr}`), ["6:16 E_WRONG_SUBSTITUTION"], /Did you mean desc\?/u],
  "an environment variable": [
    asset(`  description: in \${env.SET}`),
    ["6:16 E_WRONG_SUBSTITUTION"],
    /Write \$\{var\.SET\}, and set it in `vars` of dimsync\.yaml, with --var SET=VALUE or as DIMSYNC_VAR_SET/u,
  ],
  "an unknown source of variables": [asset(`  description: \${foo.bar}`), ["6:16 E_WRONG_SUBSTITUTION"], /is not \$\{var\.NAME\}/u],
  "a substitution that is not closed": [asset(`  description: a \${var.b`), ["6:16 E_WRONG_SUBSTITUTION"]],
  "two variables without a value in one text": [
    asset(`  description: \${var.a1} \${var.b1}`),
    ["6:16 E_WRONG_SUBSTITUTION", "6:16 E_WRONG_SUBSTITUTION"],
  ],
  "a value with an unset variable has no second problem": [asset(`  secretVersion: \${var.nope}`), ["6:18 E_WRONG_SUBSTITUTION"]],
  "a secret filled in from the environment": [asset(`  connection: { password: '\${var.SET}' }`), ["6:27 E_LITERAL_SECRET"]],
  "a value from the environment is not quoted": [asset(`  connectionType: '\${var.SET}'`), ["6:19 E_WRONG_VALUE"]],
});

test("secret references, names that only look like secrets, and booleans are not problems", async () => {
  const connection = "  connection: { password: { $secret: { env: A } }, use_token: true, host: a }";
  const tree = "  schemas: { secrets: { tables: { tokens: { columns: { password: { hashed: true } } } } } }";
  const { problems, manifests } = await load({ "a.yaml": asset(connection), "s.yaml": shops(tree) });
  expect(problems).toEqual([]);
  expect(manifests).toHaveLength(2);
});
