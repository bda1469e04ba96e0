import { type Address, manifestAddress, parseAddress } from "../model/address.ts";
import { isObject, type JsonScalar, type JsonValue, sameJson } from "../model/json.ts";
import type { Change, Item, Manual, Plan } from "../model/plan.ts";
import { atPointer, fromPointer, type Pointer } from "../model/pointer.ts";
import type { Locate } from "../model/problem.ts";
import { locationIn, type Resource, type SchemaConfigSpec, type SchemaMatch } from "../model/resource.ts";

/** What a difference has to become in the manifests for the live value to be the declared one. */
export type Acceptance =
  /** A value at a place of a manifest. */
  | { readonly how: "value"; readonly resource: Resource; readonly path: readonly string[]; readonly value: JsonScalar }
  /** A configuration of its own for this one integration: the manifest that decided acts on others as well. */
  | {
      readonly how: "override";
      readonly resource: Resource;
      readonly item: Item;
      readonly path: readonly string[];
      readonly value: JsonScalar;
    }
  /** `why` is a sentence that says what to do instead. */
  | { readonly how: "refused"; readonly why: string };

/** One difference and what accepting it takes; several places where a manifest says the same twice. */
export interface Accepting {
  readonly address: Address;
  readonly path: Pointer;
  readonly acceptances: readonly Acceptance[];
}

export interface AcceptedProject {
  readonly resources: readonly Resource[];
  readonly locate: Locate;
}

/** Every difference of the report, in its order. */
export function acceptingOf(report: Plan, project: AcceptedProject): readonly Accepting[] {
  const byAddress = new Map(project.resources.map((resource) => [resource.address, resource]));
  return [
    ...report.items.filter(({ action }) => action !== "bind").flatMap((item) => ofItem(item, byAddress, project)),
    ...report.manual.map((step) => ({ address: step.address, path: step.path, acceptances: ofManual(step, byAddress) })),
  ];
}

const refused = (why: string): readonly [Acceptance] => [{ how: "refused", why }];

function ofItem(item: Item, byAddress: ReadonlyMap<Address, Resource>, project: AcceptedProject): readonly Accepting[] {
  const { address, kind, action } = item;
  const whole = (why: string): readonly Accepting[] => [{ address, path: "", acceptances: refused(why) }];
  if (action === "create")
    return whole("It is declared and not in the account. Apply creates it; if it is meant to be gone, delete its manifest.");
  if (action === "relate")
    return whole("The tag is not on this resource. Apply attaches it; if it is meant to be off, take the resource out of spec.resources.");
  const top = byAddress.get(manifestAddress(address));
  if (top === undefined) return whole("Its manifest was not found.");
  return item.changes.map((change) => ({
    address,
    path: change.path,
    acceptances: kind === "SchemaConfig" ? [ofNode(item, change, top, project)] : ofField(change, top),
  }));
}

/** Why the origin of a difference forbids taking the live value over it. */
function forbiddenBy({ origin }: Pick<Change | Manual, "origin">): string | undefined {
  if (origin === "config") return "The manifests changed here, not the account. Apply brings the account after.";
  if (origin === "conflict")
    return "Both the manifests and the account changed here. Decide which one holds: edit the manifest, or apply it.";
  return undefined;
}

function scalarOf(value: JsonValue | undefined): JsonScalar | undefined {
  return value === null || (typeof value !== "object" && value !== undefined) ? value : undefined;
}

/** A literal is changed where it stands; a rule is overruled by a literal of the same configuration (literals win, product §2.4.3). */
function ofNode(item: Item, change: Change, top: Resource, { resources, locate }: AcceptedProject): Acceptance {
  const forbidden = forbiddenBy(change);
  if (forbidden !== undefined) return { how: "refused", why: forbidden };
  const value = scalarOf(change.before);
  if (value === undefined) return { how: "refused", why: "What the account has there is not known." };
  const path = ["spec", ...fromPointer(change.path)];
  const isSingle = (resource: Resource) => (resource.spec as SchemaConfigSpec).integration !== undefined;
  const says = (resource: Resource) => atPointer(resource.spec, change.path) !== undefined;
  if (says(top) && isSingle(top)) return { how: "value", resource: top, path, value };
  const { cause } = change;
  const decider =
    cause === undefined || cause.rule !== undefined
      ? undefined
      : resources.find((resource) => {
          if (resource.kind !== "SchemaConfig" || !says(resource) || !isSingle(resource)) return false;
          const place = locate(locationIn(resource, `/spec${change.path}`));
          return place.file === cause.file && place.line === cause.line;
        });
  if (decider !== undefined) return { how: "value", resource: decider, path, value };
  return isSingle(top) ? { how: "value", resource: top, path, value } : { how: "override", resource: top, item, path, value };
}

/** Name, description and owner of a tag, name of an asset: the interface shows them. */
function ofField(change: Change, resource: Resource): readonly Acceptance[] {
  const forbidden = forbiddenBy(change);
  if (forbidden !== undefined) return refused(forbidden);
  const value = scalarOf(change.before);
  if (value === undefined)
    return refused("The interface shows no value there, so there is none to take over. Apply writes the declared one; or delete the line.");
  if (atPointer(resource.spec, change.path) === undefined) return refused("The manifest declares no value there.");
  return [{ how: "value", resource, path: ["spec", ...fromPointer(change.path)], value }];
}

function ofManual(step: Manual, byAddress: ReadonlyMap<Address, Resource>): readonly Acceptance[] {
  const forbidden = forbiddenBy(step);
  if (forbidden !== undefined) return refused(forbidden);
  const resource = byAddress.get(manifestAddress(step.address));
  const value = scalarOf(step.actual);
  if (parseAddress(step.address)?.resource !== undefined)
    return refused(
      "The interface doesn't show of what type the resource is. Add it to spec.resources by hand, or take the tag off in the service.",
    );
  if (step.path === "") return refused("It is gone from the account. Delete its manifest, or make it again in the service.");
  if (resource === undefined) return refused("Its manifest was not found.");
  if (value === undefined) return refused("What the account has there is not known. Do the step, or correct the manifest by hand.");
  const places = placesOf(step, resource);
  if (places.length === 0) return refused("No single value of the manifest says this. Do the step, or correct the manifest by hand.");
  return places.map((path) => ({ how: "value", resource, path, value }));
}

/** Where the manifest says what the step expects. */
function placesOf({ path, expected }: Manual, resource: Resource): readonly (readonly string[])[] {
  const spec: unknown = resource.spec;
  const saying = (pointers: readonly Pointer[]) =>
    pointers
      .filter((pointer) => expected !== undefined && sameJson(atPointer(spec, pointer), expected))
      .map((pointer) => ["spec", ...fromPointer(pointer)]);
  if (resource.kind === "SchemaConfig") return expectationsOf(path, expected, spec as SchemaConfigSpec);
  if (resource.kind !== "Integration") return saying([path]);
  const create: Readonly<Record<Pointer, Pointer>> = {
    "/source/name": "/create/sourceConfig/name",
    "/source/type": "/create/sourceConfig/type",
  };
  const other = path === "/destination/id" ? "/destination/id" : create[path];
  return saying([`/expect${path}`, ...(other === undefined ? [] : [other])]);
}

/** Entries of spec.expect that mean this one node and nothing else: with a pattern, others would be expected to be so, too. */
function expectationsOf(path: Pointer, expected: JsonValue | undefined, { expect = [] }: SchemaConfigSpec): readonly (readonly string[])[] {
  const segments = fromPointer(path);
  const names = segments.slice(1, -1).filter((_, index) => index % 2 === 0);
  const key = segments.at(-1) ?? "";
  return expect.flatMap((entry, index) => {
    const levels = [entry.match.schema, entry.match.table, entry.match.column];
    const isThis = levels.every((level, depth) =>
      names[depth] === undefined ? level === undefined : isLiteral(level, names[depth], entry.match),
    );
    const says = isObject(entry) && Object.hasOwn(entry, key) && sameJson(entry[key], expected);
    return isThis && says ? [["spec", "expect", String(index), key]] : [];
  });
}

function isLiteral(level: string | readonly string[] | undefined, name: string | undefined, { ignoreCase, where }: SchemaMatch): boolean {
  const only = typeof level === "string" ? level : level?.length === 1 ? level[0] : undefined;
  return only === name && ignoreCase !== true && where === undefined && !/[*?[\]{}!]/u.test(only ?? "");
}
