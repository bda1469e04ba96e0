import type { JsonObject, JsonValue } from "../../model/json/json.ts";
import { leavesOf } from "../../model/json/leaves.ts";
import type { LiveUser } from "../../model/live.ts";
import type { DraftItem } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { type IntegrationSpec, locationIn, problemIn } from "../../model/resource.ts";
import { type AccountView, type DiffResult, emptyDiff } from "../kind.ts";
import { users } from "../lists.ts";
import { needsUsers, plainEmailWarning, userToWrite } from "../users.ts";
import { type IntegrationUnit, recordOfCreate } from "./diff.ts";

type Create = NonNullable<IntegrationSpec["create"]>;

export const ownersNeedUsers = (spec: IntegrationSpec): boolean => spec.create?.sourceConfig.owners?.some(needsUsers) === true;

const ownerPointer = (index: number): string => `/spec/create/sourceConfig/owners/${index}`;

export function createdIntegration(unit: IntegrationUnit, account: AccountView): DiffResult {
  const { resource, destination, address } = unit;
  const { create } = resource.spec;
  if (create === undefined || destination?.state !== "found") return emptyDiff;
  const { body, unknownUsers } = createBody(create, destination.id, account.list(users).items);
  if (unknownUsers.length > 0) return { ...emptyDiff, problems: unknownUsers.map((one) => unknownOwner(unit, one)) };
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
  const owners = create.sourceConfig.owners ?? [];
  const warnings = owners.flatMap((owner, index) =>
    plainEmailWarning(owner, account.list(users).items, locationIn(resource, ownerPointer(index))),
  );
  return { ...emptyDiff, items: [item], problems: warnings };
}

interface UnknownOwner {
  readonly email: string;
  /** Into the manifest. */
  readonly pointer: string;
}

/** The body of POST /v1/integrations. Owners that are given by e-mail address become user ids. */
function createBody(
  create: Create,
  destinationId: string,
  users: readonly LiveUser[],
): { readonly body: JsonObject; readonly unknownUsers: readonly UnknownOwner[] } {
  const unknownUsers: UnknownOwner[] = [];
  const owners = create.sourceConfig.owners?.map((owner, index): JsonValue => {
    const written = userToWrite(owner, users);
    if (typeof written === "string") return written;
    unknownUsers.push({ email: written.email, pointer: ownerPointer(index) });
    return null;
  });
  const sourceConfig: JsonObject = owners === undefined ? create.sourceConfig : { ...create.sourceConfig, owners };
  const { destinationSchema, replicationFrequency, onSchemaUpdate, enabled, sourceSettings } = create;
  return {
    body: { destinationId, destinationSchema, replicationFrequency, onSchemaUpdate, enabled, sourceConfig, sourceSettings },
    unknownUsers,
  };
}

const unknownOwner = ({ resource }: IntegrationUnit, { email, pointer }: UnknownOwner): Problem =>
  problemIn(resource, pointer, {
    code: "E_UNKNOWN_USER",
    message: `The account has no user with the e-mail address ${email}, so the id of the owner is unknown. Correct the address, or add the user to the account.`,
  });
