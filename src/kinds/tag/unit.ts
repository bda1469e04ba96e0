import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type TagSpec } from "../../model/resource.ts";
import type { Unit } from "../kind.ts";

export interface TagUnit extends Unit {
  readonly resource: Resource<TagSpec>;
}

export function unknownUser({ resource, address }: TagUnit, email: string, pointer: string): Problem {
  return {
    code: "E_UNKNOWN_USER",
    severity: "error",
    message: `The account has no user with the e-mail address ${email}. Correct the address, write the user's id as plain text, or add the user to the account.`,
    place: locationIn(resource, pointer),
    address,
  };
}
