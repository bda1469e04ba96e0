import { observeAccount } from "../../core/engine/observe.ts";
import { cachedReads } from "../../core/engine/reads/cached-reads.ts";
import { readAhead } from "../../core/engine/reads/read-account.ts";
import type { AccountView, Identity } from "../../core/kinds/kind.ts";
import { integrations } from "../../core/kinds/lists.ts";
import { isIntegration } from "../../core/kinds/manifests.ts";
import { namesMatcher } from "../../core/kinds/patterns/names.ts";
import { readSchemas, schemaUnits } from "../../core/kinds/schemas.ts";
import type { Project } from "../../core/manifests/project.ts";
import { collectLiveNames, type ExtendedKinds, type Fit } from "../../core/manifests/schema/live-names.ts";
import type { Schema } from "../../core/manifests/schema/lookup.ts";
import { byText } from "../../core/model/address.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { LiveIntegration } from "../../core/model/live.ts";
import type { Reads } from "../../core/model/service.ts";
import { readRecords } from "../../core/operations/open-records.ts";
import { withReads } from "../../core/operations/reads.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore } from "../../core/text/lists.ts";
import { didYouMean } from "../../core/text/suggest.ts";

/** Editors stay fast with this many names: about a megabyte of schema. */
const maxNames = 20_000;

interface LiveSchemaOptions {
  /** A JSON Schema, and which of its definitions get the names. */
  readonly schema: Schema;
  readonly kinds: ExtendedKinds;
  /** Names and globs of integrations; empty: all. */
  readonly integrations: readonly string[];
}

/** A JSON Schema with the names of an account. */
interface LiveSchema {
  readonly schema: Schema;
  /** Sentences that say which names it lacks. */
  readonly leftOut: readonly string[];
}

/**
 * Adds the names of the project's account, or of the run's snapshot, to a JSON Schema. Sends GET only. Manifests with errors do not matter. Throws E_USAGE
 * if a pattern selects no integration, and ServiceError.
 */
export async function liveSchema(project: Project, options: LiveSchemaOptions, run: RunEnvironment): Promise<LiveSchema> {
  return withReads(project, run, async (reads) => {
    const account = await observed(project, reads, run);
    const selected = selectedIntegrations(account, options.integrations);
    const names = collectLiveNames(maxNames);
    const fits: Record<Fit, string[]> = { whole: [], withoutColumns: [], nothing: [] };
    const unread: string[] = [];
    for await (const { item, read } of readAhead(selected, ({ integration }) => readSchemas(reads, integration.id))) {
      if (read === undefined) continue;
      const fit = names.add({ id: item.integration.id, names: item.names, schemas: read });
      fits[fit].push(item.integration.name);
      const lacksColumns = Object.values(read).some(({ tables }) => Object.values(tables).some(({ columns }) => columns === undefined));
      if (fit === "whole" && lacksColumns) unread.push(item.integration.name);
    }
    return { schema: names.extend(options.schema, options.kinds), leftOut: leftOut(fits, unread) };
  });
}

async function observed(project: Project, reads: Reads, run: RunEnvironment): Promise<AccountView> {
  const once = cachedReads(reads);
  // A list that cannot be read ends the command here; observeAccount would only report it.
  await once.list(integrations);
  const { account } = await observeAccount({
    project,
    compared: project.resources.filter(isIntegration),
    records: await readRecords(project.settings, run),
    reads: once,
    ignored: () => false,
    alsoNeeded: [integrations],
  });
  return account;
}

interface Selected {
  readonly integration: LiveIntegration;
  /** What a SchemaConfig may call it. */
  readonly names: readonly string[];
}

/** By name; those that a SchemaConfig selects first, because not all may fit. */
function selectedIntegrations(account: AccountView, patterns: readonly string[]): readonly Selected[] {
  const manifests = account.resources.filter(isIntegration);
  const all = account.list(integrations).items.map((integration): Selected => {
    const own = manifests.filter(({ address }) => isIdentified(account.identities.get(address), integration)).map(({ name }) => name);
    // A manifest's name has precedence over a live name.
    const live = manifests.some(({ name }) => name === integration.name) ? [] : [integration.name];
    return { integration, names: [...own, ...live] };
  });
  const matches = namesMatcher(patterns);
  const selected = all.filter(({ integration, names }) => matches([...names, integration.id]));
  const [first] = patterns;
  if (selected.length === 0 && first !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      `No integration matches --integration ${JSON.stringify(first)}.${didYouMean(
        first,
        all.flatMap(({ names }) => names),
      )}`,
      { command: "dimsync get integrations" },
    );
  const configured = new Set(schemaUnits(account).units.map(({ liveId }) => liveId));
  const rank = ({ integration }: Selected): number => (configured.has(integration.id) ? 0 : 1);
  return selected.sort((a, b) => rank(a) - rank(b) || byText(a.integration.name, b.integration.name));
}

const isIdentified = (identity: Identity | undefined, { id }: LiveIntegration): boolean =>
  identity?.state === "found" && identity.id === id;

function leftOut({ withoutColumns, nothing }: Record<Fit, readonly string[]>, unread: readonly string[]): readonly string[] {
  const ofIntegrations = (names: readonly string[]): string => `${counted(names.length, "integration")} (${andMore(names, "integration")})`;
  const limit = `the schema has at most ${maxNames} names. Select integrations with --integration NAME`;
  return [
    ...(withoutColumns.length === 0 ? [] : [`The column names of ${ofIntegrations(withoutColumns)} are left out: ${limit}.`]),
    ...(nothing.length === 0 ? [] : [`All names of ${ofIntegrations(nothing)} are left out: ${limit}.`]),
    ...(unread.length === 0
      ? []
      : [
          `The columns of tables that are not replicated are left out in ${ofIntegrations(unread)}: the service returns them with one request per table.`,
        ]),
  ];
}
