import type { JsonObject, JsonValue } from "../../model/json.ts";
import type { LiveUser } from "../../model/live.ts";
import type { IntegrationSpec, UserRef } from "../../model/resource.ts";
import { needsUsers, userToWrite } from "../users.ts";

export const ownersNeedUsers = (spec: IntegrationSpec): boolean => spec.create?.sourceConfig.owners?.some(needsUsers) === true;

type Create = NonNullable<IntegrationSpec["create"]>;

/** The body of POST /v1/integrations (interface §4.1); owners by e-mail become user ids. */
export function createBody(
  create: Create,
  destinationId: string,
  users: readonly LiveUser[],
): { readonly body: JsonObject; readonly unknownPeople: readonly { readonly email: string; readonly pointer: string }[] } {
  const unknownPeople: { email: string; pointer: string }[] = [];
  const owners = create.sourceConfig.owners?.map((person: UserRef, index): JsonValue => {
    const written = userToWrite(person, users);
    if (typeof written === "string") return written;
    unknownPeople.push({ email: written.email, pointer: `/spec/create/sourceConfig/owners/${index}` });
    return null;
  });
  const sourceConfig: JsonObject = owners === undefined ? create.sourceConfig : { ...create.sourceConfig, owners };
  const { destinationSchema, replicationFrequency, onSchemaUpdate, enabled, sourceSettings } = create;
  return {
    body: { destinationId, destinationSchema, replicationFrequency, onSchemaUpdate, enabled, sourceConfig, sourceSettings },
    unknownPeople,
  };
}
