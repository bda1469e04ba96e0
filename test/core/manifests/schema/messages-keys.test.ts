// An unknown key has a message that names the right one.
import { asset, integration, mysql, shops, testProblems } from "../problem-table.ts";
import { manifest } from "../project-on-disk.ts";

testProblems({
  "a mistyped key": [asset("  descripton: x"), ["6:3 E_UNKNOWN_KEY"], /Did you mean description\?/u],
  "a mistyped key deep in a literal tree": [
    shops("  schemas: { public: { tabels: {} } }"),
    ["6:24 E_UNKNOWN_KEY"],
    /Did you mean tables\?/u,
  ],
  "the beginning of a key": [
    shops("  schemas: { public: { tables: { t: { columns: { c: { hash: true } } } } } }"),
    ["6:55 E_UNKNOWN_KEY"],
    /Did you mean hashed\?/u,
  ],
  "a mistyped required key is one problem": [asset().replace("name: W", "nam: W"), ["5:3 E_UNKNOWN_KEY"], /Did you mean name\?/u],
  "a mistyped choice is one problem": [
    shops().replace("integration:", "integraton:"),
    ["5:3 E_UNKNOWN_KEY"],
    /Did you mean integration\?/u,
  ],
  "where on the rule instead of in match": [
    shops("  rules:", "    - { match: { table: a }, where: { enabled: true }, ignore: true }"),
    ["7:30 E_UNKNOWN_KEY"],
    /belongs in `match`: match: \{ where: … \}/u,
  ],
  "a name instead of a resource": [
    manifest("Tag", "t", "spec: { name: T, resources: [shop-01] }"),
    ["4:30 E_WRONG_TYPE"],
    /Write `integration: shop-01`/u,
  ],
  "a key that is not similar to any other": [asset("  zzz: x"), ["6:3 E_UNKNOWN_KEY"], /Known here: name, type/u],
  "the key __proto__ in a map with fixed keys": [asset("  __proto__: x"), ["6:3 E_UNKNOWN_KEY"]],
  "a merge key": [asset("  <<: { type: x }"), ["6:3 E_UNKNOWN_KEY"], /YAML 1\.1/u],
  "a lifecycle for a kind without one": [
    manifest("RuleSet", "pii", "lifecycle: { create: never }", "spec: { rules: [{ match: { column: email }, set: { hashed: true } }] }"),
    ["4:1 E_UNKNOWN_KEY"],
  ],
  "an unknown member of a postgres connection": [
    integration(
      "    enabled: false",
      "    sourceConfig: { type: postgres, name: a, connection: { hostnam: b } }",
      "    sourceSettings: {}",
    ),
    ["11:60 E_UNKNOWN_KEY"],
    /Did you mean hostname\?/u,
  ],

  // Missing keys, or one too many
  "create without members that the interface requires": [
    integration(...mysql.slice(0, 2)).replace(/^.*replicationFrequency.*\n/mu, ""),
    ["6:3 E_MISSING_KEY"],
    /`replicationFrequency`/u,
  ],
  "create of a postgres source without enabled": [
    integration("    sourceConfig: { type: postgres, name: a }", "  settings: { name: x }"),
    ["6:3 E_MISSING_KEY"],
    /`enabled`.*settings: \{ paused: … \}/u,
  ],
  "settings.paused instead of enabled": [integration("    sourceConfig: { type: postgres, name: a }", "  settings: { paused: true }"), []],
  "create without a destination": [
    integration(...mysql).replace("  destination: { id: d-1 }\n", ""),
    ["4:1 E_MISSING_KEY"],
    /needs a destination/u,
  ],
  "a destination by asset and by id": [
    integration(...mysql).replace("{ id: d-1 }", "{ id: d-1, asset: a }"),
    ["5:3 E_WRONG_VALUE"],
    /exactly one of `asset` and `id`/u,
  ],
  "a rule that sets nothing": [shops("  rules:", "    - match: { table: a }"), ["7:7 E_MISSING_KEY"], /ignore: true/u],
  "a rule with only ignore: false": [
    shops("  rules:", "    - { match: { table: a }, ignore: false }"),
    ["7:7 E_MISSING_KEY"],
    /lacks `set`.*ignore: true/u,
  ],
  "a rule without a match": [shops("  rules:", "    - set: { enabled: true }"), ["7:7 E_MISSING_KEY"], /`match`/u],
  "a rule set used beside other members": [
    shops("  rules:", "    - { use: a, set: { enabled: true } }"),
    ["7:7 E_WRONG_VALUE"],
    /must be its only key/u,
  ],
  "a match without patterns": [
    shops("  rules:", "    - { match: { ignoreCase: true }, set: { enabled: true } }"),
    ["7:9 E_MISSING_KEY"],
    /`schema`, `table`, `column` and `label`/u,
  ],
  "neither integration nor integrations": [
    manifest("SchemaConfig", "s", "spec: {}"),
    ["4:1 E_MISSING_KEY"],
    /exactly one of `integration` and `integrations`, but has none/u,
  ],
  "both integration and integrations": [
    shops("  integrations: { names: [a] }"),
    ["4:1 E_MISSING_KEY"],
    /but has `integration` and `integrations`/u,
  ],
  "an expect entry without values": [shops("  expect:", "    - match: { table: a }"), ["7:7 E_WRONG_VALUE"], /asserts nothing/u],
  "a resource of two kinds": [
    manifest("Tag", "t", "spec: { name: T, resources: [{ asset: a, integration: b }] }"),
    ["4:30 E_WRONG_VALUE"],
    /exactly one/u,
  ],

  // Fields that no call of the interface can write
  "destinationId inside create": [integration(...mysql, "    destinationId: d"), ["13:5 E_UNWRITABLE_FIELD"], /spec\.destination/u],
  "paused inside create": [integration(...mysql, "    paused: false"), ["13:5 E_UNWRITABLE_FIELD"], /spec\.settings/u],
  "isPrimaryKey in a literal": [
    shops("  schemas: { s: { tables: { t: { columns: { c: { isPrimaryKey: true } } } } } }"),
    ["6:50 E_UNWRITABLE_FIELD"],
  ],
  "nameInDestination in a rule set": [
    manifest("RuleSet", "r", "spec: { rules: [{ match: { table: a }, set: { nameInDestination: x } }] }"),
    ["4:47 E_UNWRITABLE_FIELD"],
  ],
  "nameInDestination in snake_case": [shops("  schemas: { s: { name_in_destination: x } }"), ["6:19 E_UNWRITABLE_FIELD"]],
  "a tag's origin": [manifest("Tag", "pii", "spec: { name: PII, origin: x }"), ["4:20 E_UNWRITABLE_FIELD"]],
});
