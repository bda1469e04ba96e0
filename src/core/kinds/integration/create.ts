import type { Address, NaturalKey } from "../../base/model/address.ts";
import { waitingStep } from "../../base/model/draft-steps.ts";
import { defined, type JsonObject } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { IntegrationCreate, IntegrationSpec, Manifest } from "../../base/model/manifest.ts";
import type { DraftItem } from "../../base/model/plan.ts";
import { isError } from "../../base/model/problem.ts";
import { maySend } from "../../base/model/service.ts";
import { type Account, type DiffResult, emptyDiff } from "../kind.ts";
import { createChanges } from "../leaves.ts";
import { users } from "../lists.ts";
import { schemasAddress } from "../manifests.ts";
import { isConfigured } from "../select.ts";
import { tagIds } from "../tags.ts";
import { needsUsers, ownersToWrite } from "../users.ts";
import { type IntegrationUnit, recordOfCreate } from "./diff.ts";
import { createdSettings, createOf, supersededIn } from "./settings.ts";

export const ownersNeedUsers = (spec: IntegrationSpec): boolean => spec.create?.sourceConfig?.owners?.some(needsUsers) === true;

export function createdIntegration(unit: IntegrationUnit, account: Account): DiffResult {
  const { manifest, destination, source, address } = unit;
  if (manifest.spec.create === undefined || destination?.state !== "found") return emptyDiff;
  const waits = resumesLater(manifest, account);
  const whole = createOf(manifest.spec.create, manifest.spec);
  const create = waits === undefined ? whole : { ...whole, enabled: false };
  const { owners } = create.sourceConfig ?? {};
  const pointer = "/spec/create/sourceConfig/owners";
  const written = owners && ownersToWrite(manifest, owners, { pointer, known: account.list(users).items });
  const problems = written?.problems ?? [];
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const tags = tagIds(manifest, { tags: create.tags, desired: asJson(create) }, account);
  if ("instead" in tags) return tags.instead;
  const sourceId = source?.state === "found" ? source.id : undefined;
  const body = bodyOf(create, { destinationId: destination.id, sourceId, owners: written?.owners, tags: tags.ids });
  const item: DraftItem = {
    address,
    kind: manifest.kind,
    verb: "create",
    standing: "ready",
    changes: createChanges(manifest, body, (path) => placeOf(path, manifest.spec)),
    requests: [{ method: "POST", path: "/v1/integrations", body }],
    naturalKey: naturalKeyOf(create, destination.id, sourceId),
    binding: { sent: { ...recordOfCreate(manifest.spec.create).sent, ...createdSettings(manifest.spec) } },
  };
  const later =
    waits === undefined ? [] : [waitingStep({ verb: "update", address, waitsFor: [waits], desired: { paused: false }, later: ["PATCH"] })];
  return { ...emptyDiff, steps: [item, ...later], problems };
}

/**
 * The address of the schemas of an integration that must be configured before it replicates data. Only a request that resumes it makes
 * that possible: then it is created paused.
 */
function resumesLater({ address, spec }: Manifest<IntegrationSpec>, account: Account): Address | undefined {
  if (spec.settings?.paused !== false || !maySend(account.extended, "PATCH /v1/integrations/{id}")) return undefined;
  const schemas = schemasAddress(account.naming.ofManifest.get(address) ?? "");
  return isConfigured(schemas, account) ? schemas : undefined;
}

/** Where the manifest has a member of the create. */
function placeOf(path: Pointer, spec: IntegrationSpec): Pointer {
  const setting = supersededIn(spec).get(`/create${path}`);
  return path === "/destinationId" ? "/spec/destination" : setting === undefined ? `/spec/create${path}` : `/spec/settings/${setting}`;
}

/** What a manifest declares is JSON. */
const asJson = (create: object): JsonObject => create as JsonObject;

interface Resolved {
  readonly destinationId: string;
  readonly sourceId: string | undefined;
  readonly owners: readonly string[] | undefined;
  readonly tags: readonly string[] | undefined;
}

/** The schema of the manifest allows exactly the members of the request. */
function bodyOf(create: IntegrationCreate, { destinationId, sourceId, owners, tags }: Resolved): JsonObject {
  const sourceConfig = owners === undefined ? create.sourceConfig : { ...create.sourceConfig, owners };
  return defined({ destinationId, ...create, sourceId, sourceConfig, tags }) as JsonObject; // defined() removes the undefined values
}

/** A new source is found by its name and type. An existing one can have several integrations, with different schemas at the destination. */
const naturalKeyOf = (
  { sourceConfig, destinationSchema }: IntegrationCreate,
  destinationId: string,
  sourceId: string | undefined,
): NaturalKey =>
  sourceConfig === undefined
    ? { sourceId: sourceId ?? "", destinationId, destinationSchema }
    : { sourceName: sourceConfig.name, sourceType: sourceConfig.type, destinationId };
