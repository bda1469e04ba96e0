import type { JsonObject } from "../../model/json/json.ts";
import { leavesOf } from "../../model/json/leaves.ts";
import type { LiveUser } from "../../model/live.ts";
import type { DraftItem } from "../../model/plan.ts";
import { isError, type Problem } from "../../model/problem.ts";
import { type IntegrationSpec, locationIn, problemIn, type Resource } from "../../model/resource.ts";
import { type AccountView, type DiffResult, emptyDiff } from "../kind.ts";
import { users } from "../lists.ts";
import { needsUsers, plainEmailWarning, userToWrite } from "../users.ts";
import { type IntegrationUnit, recordOfCreate } from "./diff.ts";

type Create = NonNullable<IntegrationSpec["create"]>;

export const ownersNeedUsers = (spec: IntegrationSpec): boolean => spec.create?.sourceConfig.owners?.some(needsUsers) === true;

export function createdIntegration(unit: IntegrationUnit, account: AccountView): DiffResult {
  const { resource, destination, address } = unit;
  const { create } = resource.spec;
  if (create === undefined || destination?.state !== "found") return emptyDiff;
  const { owners, problems } = ownersToWrite(unit, create, account.list(users).items);
  if (problems.some(isError)) return { ...emptyDiff, problems };
  const { destinationSchema, replicationFrequency, onSchemaUpdate, enabled, sourceSettings } = create;
  const sourceConfig: JsonObject = owners === undefined ? create.sourceConfig : { ...create.sourceConfig, owners };
  const body: JsonObject = {
    destinationId: destination.id,
    destinationSchema,
    replicationFrequency,
    onSchemaUpdate,
    enabled,
    sourceConfig,
    sourceSettings,
  };
  const item: DraftItem = {
    address,
    kind: resource.kind,
    action: "create",
    changes: leavesOf(body).map(({ path, value }) => ({
      path,
      after: value,
      risk: "neutral",
      cause: { place: locationIn(resource, path === "/destinationId" ? "/spec/destination" : `/spec/create${path}`) },
    })),
    requests: [{ method: "POST", path: "/v1/integrations", body }],
    naturalKey: { sourceName: create.sourceConfig.name, sourceType: create.sourceConfig.type, destinationId: destination.id },
    binding: recordOfCreate(create),
  };
  return { ...emptyDiff, items: [item], problems };
}

/** Owners that are given by e-mail address become user ids. Errors for those whose id is unknown, else warnings. */
function ownersToWrite(
  { resource }: IntegrationUnit,
  { sourceConfig }: Create,
  known: readonly LiveUser[],
): { readonly owners: readonly string[] | undefined; readonly problems: readonly Problem[] } {
  const owners: string[] = [];
  const unknown: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [index, owner] of (sourceConfig.owners ?? []).entries()) {
    const pointer = `/spec/create/sourceConfig/owners/${index}`;
    const written = userToWrite(owner, known);
    if (typeof written === "string") owners.push(written);
    else unknown.push(unknownOwner(resource, written.email, pointer));
    warnings.push(...plainEmailWarning(owner, known, locationIn(resource, pointer)));
  }
  return { owners: sourceConfig.owners && owners, problems: unknown.length > 0 ? unknown : warnings };
}

const unknownOwner = (resource: Resource, email: string, pointer: string): Problem =>
  problemIn(resource, pointer, {
    code: "E_UNKNOWN_USER",
    message: `The account has no user with the e-mail address ${email}, so the id of the owner is unknown. Correct the address, or add the user to the account.`,
  });
