import type { Binding } from "../../base/model/address.ts";
import { byHandStep, unseenSteps } from "../../base/model/draft-steps.ts";
import type { JsonValue } from "../../base/model/json/json.ts";
import { atPointer, isWithin, leavesOf, type Pointer } from "../../base/model/json/pointer.ts";
import type { LiveIntegration } from "../../base/model/live.ts";
import type { IntegrationCreate, IntegrationSpec, Manifest } from "../../base/model/manifest.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import { shellWord } from "../../base/text/shell.ts";
import { unshown } from "../fields.ts";
import type { Unit } from "../kind.ts";
import { changedLeaves, leafDigests } from "../leaves.ts";
import { settings } from "../lists.ts";
import type { Selected } from "../select.ts";
import { integrationText, settingByHand, settingPaths, supersededIn } from "./settings.ts";

export interface IntegrationUnit extends Unit {
  readonly manifest: Manifest<IntegrationSpec>;
  /** Absent if the manifest names none. */
  readonly destination: Selected | undefined;
  /** The existing source that the manifest names; absent if it names none. */
  readonly source: Selected | undefined;
}

/** What a binding records of a create: a digest for each member, because the interface never returns most of them. */
export const recordOfCreate = (create: IntegrationCreate): Pick<Binding, "sent"> => ({ sent: leafDigests(create, "/create") });

/** Members of `create` that a read returns, with their names there. */
const readAs: Readonly<Record<Pointer, Pointer>> = {
  "/create/name": "/name",
  "/create/sourceId": "/source/id",
  "/create/sourceId/asset": "/source/id",
  "/create/sourceConfig/name": "/source/name",
  "/create/sourceConfig/type": "/source/type",
};

export const placesOf = (path: Pointer): readonly Pointer[] => [
  `/settings${path}`,
  `/expect${path}`,
  path,
  ...Object.keys(readAs).filter((member) => readAs[member] === path),
];

/**
 * The differences between an existing integration and its manifest. No request changes an
 * integration.
 */
export function compareIntegration(unit: IntegrationUnit, live: LiveIntegration, record: Binding | undefined): readonly DraftStep[] {
  const { create } = unit.manifest.spec;
  const isSetting = settingPaths(unit.manifest.spec);
  const compared = firstByPath([
    ...expectations(unit, live),
    ...destination(unit, live),
    ...(create === undefined ? [] : source(unit, create, live)),
  ]).filter(({ path }) => !isSetting.has(path));
  const { address } = unit;
  const byHand = compared.flatMap(({ actual, ...step }) =>
    actual === undefined || actual === step.expected ? [] : [byHandStep({ address, ...step, actual })],
  );
  const unseen = compared.filter(({ actual }) => actual === undefined).map(({ path }) => path);
  const steps = [...byHand, ...unseenSteps(address, unseen, unshown)];
  if (create === undefined) return steps;
  const sent = Object.entries(record?.sent ?? {}).filter(([path]) => isWithin(path, "/create"));
  return [...steps, ...(sent.length === 0 ? unseenCreate(unit, create) : changedCreate(unit, create, Object.fromEntries(sent)))];
}

/** A value can be declared in `expect` and in `create`; it is reported once. */
const firstByPath = (all: readonly Comparison[]): readonly Comparison[] =>
  all.filter(({ path }, index) => all.findIndex((one) => one.path === path) === index);

/** A live integration is JSON. A name or type that the service does not show is "". */
function liveAt(live: LiveIntegration, path: Pointer): JsonValue | undefined {
  const value = atPointer(live, path) as JsonValue | undefined;
  return value === "" ? undefined : value;
}

interface Comparison {
  readonly path: Pointer;
  readonly expected: JsonValue;
  /** Undefined: the service does not show it. */
  readonly actual: JsonValue | undefined;
  readonly instruction: string;
}

const expectations = ({ manifest }: IntegrationUnit, live: LiveIntegration): readonly Comparison[] =>
  leavesOf(manifest.spec.expect).map(({ path, value }) => ({
    ...{ path, expected: value, actual: liveAt(live, path) },
    instruction: expectInstruction(path, value, live),
  }));

function destination({ destination: declared }: IntegrationUnit, live: LiveIntegration): readonly Comparison[] {
  if (declared?.state !== "found") return [];
  const instruction = `The destination of an integration can't be changed. Create a new integration for ${declared.name}, or correct spec.destination.`;
  return [{ path: "/destination/id", expected: declared.id, actual: live.destination?.id || undefined, instruction }];
}

/** What was created, as far as a read shows it. */
const source = ({ source: existing }: IntegrationUnit, create: IntegrationCreate, live: LiveIntegration): readonly Comparison[] =>
  Object.entries(readAs).flatMap(([path, shownAt]) => {
    const declared = atPointer({ create }, path);
    const expected = shownAt === "/source/id" && existing?.state === "found" ? existing.id : declared;
    if (typeof declared !== "string" || typeof expected !== "string") return [];
    const instruction = `The manifest has another value in spec${dotted(path)}. Correct the manifest, or create a new integration.`;
    return [{ path: shownAt, expected, actual: liveAt(live, shownAt), instruction }];
  });

function unseenCreate({ address, manifest }: IntegrationUnit, create: IntegrationCreate): readonly DraftStep[] {
  const superseded = supersededIn(manifest.spec);
  const paths = Object.keys(leafDigests(create, "/create")).filter((path) => readAs[path] === undefined && !superseded.has(path));
  return unseenSteps(
    address,
    paths.map((path) => `/spec${path}`),
    "The API never returns what an integration was created with, and what was sent is not recorded.",
  );
}

/** Members of `create` that changed after the integration was created. */
function changedCreate(
  { address, manifest }: IntegrationUnit,
  create: IntegrationCreate,
  sent: NonNullable<Binding["sent"]>,
): readonly DraftStep[] {
  const superseded = supersededIn(manifest.spec);
  return changedLeaves(leafDigests(create, "/create"), sent)
    .filter((path) => readAs[path] === undefined && !superseded.has(path))
    .map((path) => {
      const expected = atPointer({ create }, path) as JsonValue | undefined;
      const member = path.slice("/create/".length);
      const instead = Object.hasOwn(settings, member) ? ` Or move it to spec.settings.${member}, which is compared with the account.` : "";
      const instruction = `The manifest changed after the integration was created, and create is sent only once.${instead} Change it in the service, then accept it:`;
      const command = `dimsync bind --accept ${shellWord(address)}`;
      return byHandStep({ address, path: `/spec${path}`, ...(expected === undefined ? {} : { expected }), instruction, command });
    });
}

function expectInstruction(path: Pointer, expected: JsonValue, live: LiveIntegration): string {
  const byHand = settingByHand(path, expected, live);
  const instead = `or correct spec.expect${dotted(path)}`;
  return byHand === undefined
    ? `dimsync has no request that changes it. Correct ${integrationText(live)} in the service, ${instead}.`
    : `${byHand.step}, ${instead}: ${byHand.why}`;
}

const dotted = (path: Pointer): string => path.replaceAll("/", ".");
