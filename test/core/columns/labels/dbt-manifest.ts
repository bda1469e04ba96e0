import { readFileSync } from "node:fs";
import { Ajv } from "ajv";

// dbt manifests as dbt writes them, with the members of a source that labels depend on.

interface Marks {
  readonly meta?: object;
  readonly tags?: readonly string[];
  /** Newer versions of dbt write `meta` and `tags` there. */
  readonly config?: { readonly meta?: object | null; readonly tags?: readonly string[] | string };
}

export interface DbtTable extends Marks {
  readonly columns?: Readonly<Record<string, Marks>>;
  readonly identifier?: string;
  readonly database?: string;
  readonly schema?: string;
}

const isSource = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(new URL("dbt-source.schema.json", import.meta.url), "utf8")));

/** target/manifest.json with these tables of the source `shop`, in the schema RAW_SHOP. Each is as in the schema that dbt publishes. */
export function dbtManifest(tables: Readonly<Record<string, DbtTable>>, version: number | string = 12): string {
  const sources = Object.entries(tables).map(([name, { columns = {}, identifier, database, schema, ...marks }]) => {
    const id = `source.analytics.shop.${name}`;
    const source = {
      database: database ?? "raw",
      schema: schema ?? "RAW_SHOP",
      name,
      resource_type: "source",
      package_name: "analytics",
      path: "models/sources.yml",
      original_file_path: "models/sources.yml",
      unique_id: id,
      fqn: ["analytics", "shop", name],
      source_name: "shop",
      source_description: "",
      loader: "",
      identifier: identifier ?? name,
      quoting: { database: null, schema: null, identifier: null, column: null },
      description: "",
      columns: Object.fromEntries(
        Object.entries(columns).map(([column, more]) => [
          column,
          { name: column, description: "", meta: {}, data_type: null, constraints: [], quote: null, tags: [], ...more },
        ]),
      ),
      meta: {},
      source_meta: {},
      tags: [],
      ...marks,
      config: { enabled: true, ...marks.config },
    };
    if (!isSource(source)) throw new Error(`Not as dbt writes it: ${JSON.stringify(isSource.errors)}`);
    return [id, source];
  });
  const schema = typeof version === "string" ? version : `https://schemas.getdbt.com/dbt/manifest/v${version}.json`;
  return JSON.stringify({
    metadata: { dbt_schema_version: schema, dbt_version: "1.9.1", generated_at: "2026-11-01T06:00:00Z", invocation_id: null, env: {} },
    nodes: {},
    sources: Object.fromEntries(sources),
    macros: {},
  });
}
