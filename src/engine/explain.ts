import { expand } from "../kinds/schema-config/expand.ts";
import { type Explanation, explain } from "../kinds/schema-config/explain.ts";
import { schemaConfig } from "../kinds/schema-config/index.ts";
import type { NodePath } from "../kinds/schema-config/node.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/unit.ts";
import { type Address, manifestAddress } from "../model/address.ts";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { LiveSchemas } from "../model/live.ts";
import { fromPointer } from "../model/pointer.ts";
import type { SchemaTree } from "../model/resource.ts";
import type { PlannedRequest } from "../model/service.ts";
import { didYouMean } from "../model/suggest.ts";
import { onceOnly } from "./reads.ts";
import type { Session } from "./session.ts";
import { observeWorld } from "./world.ts";

/** One node of one integration, with everything that was said of it. */
export interface Explained extends Explanation {
  readonly address: Address;
  readonly liveId: string;
  /** The whole request that apply would send for this integration; empty where nothing differs. */
  readonly requests: readonly PlannedRequest[];
}

/** Why a schema, table or column is to be as it is (product §4, `explain`). Throws E_UNKNOWN_ADDRESS, and ServiceError where a read fails. */
export async function explainNode(session: Session, address: Address, path: NodePath): Promise<readonly Explained[]> {
  const { units, diff } = await compared(session, [address]);
  return units.map(({ unit, live }) => ({
    address: unit.address,
    liveId: unit.liveId,
    requests: diff(unit, live).items.flatMap(({ requests }) => requests),
    ...explain(unit.program, live, path),
  }));
}

/** What is managed of one integration, written out. */
export interface Expanded {
  readonly address: Address;
  readonly config: string;
  readonly label: string;
  readonly schemas: SchemaTree;
}

/** The effective tree of every integration that these configurations act on: rules and `unmatched` worked out over what is live (`render --expand`). */
export async function expandConfigs(session: Session, addresses: readonly Address[]): Promise<readonly Expanded[]> {
  const { units } = await compared(session, addresses);
  return units.map(({ unit, live }) => ({
    address: unit.address,
    config: unit.resource.name,
    label: unit.label,
    schemas: expand(unit.program, live),
  }));
}

async function compared(session: Session, addresses: readonly Address[]) {
  const { project, clock } = session;
  const reads = onceOnly(session.reads);
  const configs = project.resources.filter(({ kind }) => kind === "SchemaConfig");
  const { world, problems } = await observeWorld({
    resources: project.resources,
    compared: configs,
    bindings: session.bindings(),
    recovered: new Map(),
    fresh: new Set(),
    reads,
    taggedBy: project.settings.defaults.taggedBy,
    writeSecrets: () => false,
    today: clock.now().toISOString().slice(0, 10),
    ignored: () => false,
  });
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors);
  const all = schemaConfig.units(configs, world).units;
  const wanted = all.filter((unit) =>
    addresses.some(
      (address) =>
        [unit.address, manifestAddress(unit.address)].includes(address) ||
        unit.program.layers.some(({ config }) => config.address === address),
    ),
  );
  const [address] = addresses;
  if (wanted.length === 0 && address !== undefined) {
    const known = [...all.map((unit) => unit.address), ...configs.map((config) => config.address)];
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No schema configuration that acts on a live integration has the address ${JSON.stringify(address)}.${didYouMean(address, known)}`,
    );
  }
  const units = await Promise.all(
    wanted.map(async (unit) => {
      const live = await schemaConfig.observe?.(unit, reads, { allColumns: () => false });
      if (live === undefined)
        throw new DimsyncError("E_GONE", `The integration ${unit.liveId} of ${unit.address} is gone from the account.`);
      return { unit, live };
    }),
  );
  return { units, diff: (unit: SchemaConfigUnit, live: LiveSchemas) => schemaConfig.diff(unit, live, world) };
}

/** A node's path from what a person types: `public.users.email`, or a JSON Pointer where names hold dots. Throws E_USAGE. */
export function nodePath(text: string | undefined, pointer: string | undefined): NodePath {
  const names = pointer === undefined ? (text ?? "").split(".") : shortened(fromPointer(pointer));
  const [schema, table, column, ...more] = names;
  if (schema === undefined || schema === "" || more.length > 0)
    throw new DimsyncError(
      "E_USAGE",
      "explain takes SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. Where a name holds a dot, give --pointer /SCHEMA/TABLE/COLUMN.",
    );
  return column !== undefined && table !== undefined ? [schema, table, column] : table !== undefined ? [schema, table] : [schema];
}

/** `/schemas/public/tables/users/columns/email/hashed`, as plans write it, means `/public/users/email`. */
function shortened(segments: readonly string[]): readonly string[] {
  const [schemas, schema, tables, table, columns, column] = segments;
  if (schemas !== "schemas" || schema === undefined || (tables !== undefined && tables !== "tables" && tables !== "enabled"))
    return segments;
  return [
    schema,
    ...(tables === "tables" && table !== undefined ? [table] : []),
    ...(columns === "columns" && column !== undefined ? [column] : []),
  ];
}
