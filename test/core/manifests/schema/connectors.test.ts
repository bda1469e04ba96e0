import { describe, expect, test } from "vitest";
import type { LoadOptions } from "../../../../src/core/manifests/project.ts";
import { config, headings, load, manifest, resource } from "../project-on-disk.ts";

const asset = (name: string, ...lines: readonly string[]) => manifest("Asset", name, "spec:", `  name: ${name}`, ...lines);

describe("connector schemas restrict connections", () => {
  const schema = JSON.stringify({
    type: "object",
    additionalProperties: false,
    required: ["host"],
    properties: { host: { type: "string" }, port: { type: "integer" }, password: { type: "string", minLength: 8 } },
  });
  const withConnection = (connection: string, files: Readonly<Record<string, string>> = {}, options: Partial<LoadOptions> = {}) =>
    load(
      {
        "dimsync.yaml": config("manifests: [a.yaml]", "connectors: { mysql: mysql.json }"),
        "mysql.json": schema,
        "a.yaml": asset("a", "  type: mysql", `  connection: ${connection}`),
        ...files,
      },
      options,
    );
  test("an unknown member, with a suggestion", async () => {
    const { diagnostics } = await withConnection("{ host: a, prt: 1 }");
    expect(headings(diagnostics)).toEqual(["a.yaml:7:26 E_UNKNOWN_KEY"]);
    expect(diagnostics[0]?.message).toContain("Did you mean port?");
  });
  test("a missing member", async () => {
    expect(headings((await withConnection("{ port: 1 }")).diagnostics)).toEqual(["a.yaml:7:3 E_MISSING_KEY"]);
  });
  test("a secret is valid, whatever the schema requires of its value", async () => {
    expect(
      (await withConnection("{ host: a, password: { $secret: { env: P } }, port: { $secret: { env: Q, type: integer } } }")).problems,
    ).toEqual([]);
  });
  test("a value from the environment is converted to the number that the schema requires", async () => {
    const project = await withConnection(`{ host: a, port: "\${var.PORT}" }`, {}, { env: { DIMSYNC_VAR_PORT: "3306" } });
    expect(project.problems).toEqual([]);
    expect(resource(project, "Asset/a").spec).toMatchObject({ connection: { port: 3306 } });
  });
  test("the connection of another connector is not restricted", async () => {
    expect((await withConnection("{ zzz: 1 }", { "a.yaml": asset("a", "  type: oracle", "  connection: { zzz: 1 }") })).problems).toEqual(
      [],
    );
  });
  describe("the connection of postgres", () => {
    const postgres = (connection: string) =>
      withConnection("{}", {
        "dimsync.yaml": config("manifests: [a.yaml]", "connectors: { postgres: pg.json }"),
        "pg.json": JSON.stringify({ properties: { sslmode: { enum: ["require"] }, sslkey: { type: "string" } } }),
        "a.yaml": manifest(
          "Integration",
          "a",
          "spec:",
          "  destination: { id: d }",
          "  create:",
          "    destinationSchema: s",
          "    replicationFrequency: '60'",
          "    onSchemaUpdate: ignoreAll",
          "    enabled: false",
          `    sourceConfig: { type: postgres, name: n, connection: ${connection} }`,
        ),
      });
    test("can have members that dimsync does not know", async () => {
      expect((await postgres("{ hostname: h, sslmode: require, sslkey: { $secret: { env: K } } }")).problems).toEqual([]);
    });
    test("is checked by both schemas", async () => {
      expect(headings((await postgres("{ sslmode: off }")).diagnostics)).toEqual(["a.yaml:11:69 E_WRONG_VALUE"]);
      expect(headings((await postgres("{ port: high }")).diagnostics)).toEqual(["a.yaml:11:66 E_WRONG_TYPE"]);
    });
    test("has no secret of an unknown form", async () => {
      expect(headings((await postgres("{ sslkey: { $secret: { envv: K } } }")).diagnostics)).toEqual(["a.yaml:11:60 E_UNKNOWN_KEY"]);
    });
  });
  test("a file that is not a schema", async () => {
    expect(headings((await withConnection("{}", { "mysql.json": '{"type": 3}' })).diagnostics)).toEqual([
      "dimsync.yaml:4:22 E_CONNECTOR_SCHEMA",
    ]);
  });
});
