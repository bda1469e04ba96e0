import type { Binding } from "../../model/binding.ts";
import type { JsonValue } from "../../model/json.ts";
import { leavesOf } from "../../model/leaves.ts";
import type { LiveIntegration } from "../../model/live.ts";
import type { Difference } from "../../model/plan.ts";
import { atPointer, type Pointer } from "../../model/pointer.ts";
import type { IntegrationSpec } from "../../model/resource.ts";
import { changedLeaves, leafDigests } from "../leaves.ts";
import type { IntegrationUnit } from "./unit.ts";

type Create = NonNullable<IntegrationSpec["create"]>;

/** What is remembered of a create: a digest per member, since the interface never returns most of them. */
export const recordOfCreate = (create: Create): { readonly sent: Readonly<Record<Pointer, string>> } => ({
  sent: leafDigests(create, "/create"),
});

/** Members of `create` that a read shows under another name (interface §2.2). */
const shown: Readonly<Record<Pointer, Pointer>> = {
  "/create/sourceConfig/name": "/source/name",
  "/create/sourceConfig/type": "/source/type",
};

/** Everything by which an existing integration differs from its manifest. No call repairs any of it. */
export function compare(
  unit: IntegrationUnit,
  live: LiveIntegration,
  binding: Binding | undefined,
): Pick<Difference, "manual" | "unverifiable"> {
  const { address, resource, destination } = unit;
  const { create, expect } = resource.spec;
  const manual: Difference["manual"][number][] = [];
  const differs = (path: Pointer, expected: JsonValue, actual: JsonValue | undefined, instruction: string): void => {
    if (expected !== actual && !manual.some((known) => known.path === path))
      manual.push({ address, path, expected, ...(actual === undefined ? {} : { actual }), instruction });
  };
  for (const { path, value: expected } of leavesOf(expect ?? {})) {
    if (path === "") continue;
    const actual = atPointer(live, path) as JsonValue | undefined;
    differs(path, expected, actual, instructionFor(path, expected, live));
  }
  if (destination.state === "found")
    differs(
      "/destination/id",
      destination.id,
      live.destination.id,
      `An integration's destination can't be changed. Make a new integration for ${destination.label}, or correct spec.destination.`,
    );
  if (create === undefined) return { manual, unverifiable: [] };

  const declared = leafDigests(create, "/create");
  for (const [path, readAs] of Object.entries(shown))
    differs(
      readAs,
      atPointer({ create }, path) as JsonValue,
      atPointer(live, readAs) as JsonValue,
      `The manifest says this of the source in spec${dotted(path)}. Correct the manifest, or make a new integration.`,
    );
  const written = Object.keys(declared).filter((path) => shown[path] === undefined);
  const recorded = binding?.sent;
  if (recorded === undefined)
    return {
      manual,
      unverifiable: [
        {
          address,
          paths: written.map((path) => `/spec${path}`),
          reason: "The interface never returns what an integration was created with, and no digest of it is on record.",
        },
      ],
    };
  for (const path of changedLeaves(declared, recorded)) {
    if (shown[path] !== undefined) continue;
    const expected = atPointer({ create }, path) as JsonValue | undefined;
    manual.push({
      address,
      path: `/spec${path}`,
      ...(expected === undefined ? {} : { expected }),
      instruction: `The manifest changed after the integration was created, and no call changes it. Change it in the service, then run: dimsync bind --accept ${address}`,
    });
  }
  return { manual, unverifiable: [] };
}

function instructionFor(path: Pointer, expected: JsonValue, live: LiveIntegration): string {
  if (path === "/paused")
    return `${expected === true ? "Pause" : "Resume"} the integration ${JSON.stringify(live.name)} (${live.id}) in the service: the interface has no call for it.`;
  if (path === "/name")
    return `Rename the integration ${live.id} to ${JSON.stringify(expected)} in the service, or correct spec.expect.name.`;
  return `The interface has no call that changes it. Correct the integration ${JSON.stringify(live.name)} (${live.id}) in the service, or correct spec.expect${dotted(path)}.`;
}

const dotted = (path: Pointer): string => path.replaceAll("/", ".");
