import type { Binding } from "../../base/model/address.ts";
import { byHandStep, unseenSteps } from "../../base/model/draft-steps.ts";
import { defined, type JsonObject, type JsonValue, sameJson } from "../../base/model/json/json.ts";
import { atPointer, type Pointer, urlPath } from "../../base/model/json/pointer.ts";
import type { LiveIntegration } from "../../base/model/live.ts";
import {
  type IntegrationCreate,
  type IntegrationSettings,
  type IntegrationSpec,
  locationIn,
  type Manifest,
  problemIn,
} from "../../base/model/manifest.ts";
import type { DraftFacts, DraftItem, DraftStep, PathChange } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { type Extended, maySend, whyNotSent } from "../../base/model/service.ts";
import { unshown } from "../fields.ts";
import { recordOf } from "../identity.ts";
import type { Account, DifferentValue } from "../kind.ts";
import { leafDigests } from "../leaves.ts";
import { details, settingNames as names, settings } from "../lists.ts";

type Name = keyof IntegrationSettings;

/** The settings that a manifest has, in the order of the table. */
const declaredIn = ({ settings: declared = {} }: IntegrationSpec): readonly (readonly [Name, JsonValue])[] =>
  names.flatMap((name) => (declared[name] === undefined ? [] : [[name, declared[name]] as const]));

/** Whether only GET of one integration can show what the manifest declares. */
export const needsDetails = (spec: IntegrationSpec): boolean => declaredIn(spec).some(([name]) => details.includes(name));

/** `create` with the settings, which it has from the beginning. */
export function createOf(create: IntegrationCreate, spec: IntegrationSpec): IntegrationCreate {
  const members = declaredIn(spec).map(([name, value]) => [inCreate(name), settings[name].inCreate?.of(value) ?? value] as const);
  // A create has no value to clear.
  return { ...create, ...Object.fromEntries(members.filter(([name, value]) => value !== null || name === "agentId")) };
}

const inCreate = (name: Name): string => settings[name].inCreate?.name ?? name;

/** The settings that a manifest has, by the members of `create` that they override. */
export const supersededIn = (spec: IntegrationSpec): ReadonlyMap<Pointer, Name> =>
  new Map(declaredIn(spec).map(([name]) => [`/create/${inCreate(name)}`, name]));

/** The paths of the settings that a manifest has: other members that say the same are not compared. */
export const settingPaths = (spec: IntegrationSpec): ReadonlySet<Pointer> => new Set(declaredIn(spec).map(([name]) => `/${name}`));

/** Fields that `expect` and `settings` give different values. */
export const contradictions = (manifest: Manifest<IntegrationSpec>): readonly Problem[] =>
  declaredIn(manifest.spec).flatMap(([name, sent]) => {
    const expected = atPointer(manifest.spec, `/expect/${name}`) as JsonValue | undefined; // what a manifest declares is JSON
    if (expected === undefined || sameJson(expected, sent)) return [];
    const message = `spec.settings.${name} has another value, which dimsync sends, so this one can never hold. Remove one of them.`;
    return [problemIn(manifest, `/spec/expect/${name}`, { code: "E_WRONG_VALUE", message })];
  });

/** A setting that differs. */
interface Different extends DifferentValue {
  readonly name: Name;
}

interface SettingsUnit {
  readonly address: string;
  readonly manifest: Manifest<IntegrationSpec>;
}

/** The differences of the settings: steps by hand, and one update if the service has a request for the others. `requires`: what must be sent before replication may resume. */
export function settingChanges(
  { address, manifest }: SettingsUnit,
  live: LiveIntegration,
  { account, requires }: { readonly account: Account; readonly requires: () => readonly string[] },
): readonly DraftStep[] {
  const sentBefore = recordOf(manifest, live.id, account)?.sent;
  const overlay = account.overlay(address);
  const isOffered = maySend(account.extended, "PATCH /v1/integrations/{id}");
  const different = declaredIn(manifest.spec).flatMap(([name, wanted]): readonly Different[] => {
    const shown = liveSetting(live, name);
    if (shown !== undefined && sameJson(shown, wanted)) return [];
    const digested = `/settings/${name}`;
    const wasSent = sentBefore?.[digested] === digestsOf([[name, wanted]])[digested];
    return [{ name, path: `/${name}`, wanted, live: shown, risk: settings[name].risk?.(shown ?? null, wanted) ?? "neutral", wasSent }];
  });
  const isByHand = ({ name, live: shown }: Different): boolean => shown !== undefined && (!isOffered || settings[name].isByHand === true);
  const due = different.filter((one) => isOffered && !isByHand(one) && overlay.decide(one) === "send");
  const digests = digestsOf(due.flatMap(({ name, wanted, live: shown }) => (shown === undefined ? [[name, wanted]] : [])));
  const hidden = isOffered ? [] : different.filter((one) => one.live === undefined);
  return [
    ...updateOf(manifest, live, {
      due,
      binding: Object.keys(digests).length === 0 ? undefined : { id: live.id, sent: { ...sentBefore, ...digests } },
      requires,
      isDrift: account.isDrift,
    }),
    ...different.filter(isByHand).map((one) => byHandStep({ address, ...settingStep(one, live, account.extended) })),
    ...unseenSteps(
      address,
      hidden.map(({ path }) => path),
      unshown,
    ),
    ...overlay.steps(),
  ];
}

/** Whether a setting protects, whatever its live value is. */
const protects = (name: Name, wanted: JsonValue): boolean => settings[name].risk?.(null, wanted) === "protects";

const digestsOf = (sent: readonly (readonly [Name, JsonValue])[]): NonNullable<Binding["sent"]> =>
  sent.length === 0 ? {} : leafDigests(Object.fromEntries(sent), "/settings");

/** The digests of the settings that protect, which a create sends. */
export const createdSettings = (spec: IntegrationSpec): NonNullable<Binding["sent"]> =>
  digestsOf(declaredIn(spec).filter(([name, wanted]) => protects(name, wanted)));

/** Undefined if the service does not show it. */
function liveSetting(live: LiveIntegration, name: Name): JsonValue | undefined {
  const value = live[name];
  return name === "name" && value === "" ? undefined : value;
}

function updateOf(
  manifest: Manifest,
  live: LiveIntegration,
  {
    due,
    binding,
    requires,
    isDrift,
  }: Pick<Account, "isDrift"> & {
    readonly due: readonly Different[];
    readonly binding: Binding | undefined;
    readonly requires: () => readonly string[];
  },
): readonly DraftItem[] {
  if (due.length === 0) return [];
  const changes = due.map(({ name, path, wanted, live: before, risk }): PathChange<DraftFacts> => {
    const reason = risk === "exposes" && !isDrift ? settings[name].exposes : undefined;
    return {
      path,
      ...defined({ before }),
      after: wanted,
      risk,
      cause: { place: locationIn(manifest, `/spec/settings${path}`), ...defined({ reason }) },
    };
  });
  // What protects is a request of its own, so that it can be sent alone. Only what resumes replication waits for the schemas.
  const isProtecting = ({ risk }: PathChange<DraftFacts>): boolean => risk === "protects";
  const requests = [changes.filter(isProtecting), changes.filter((one) => !isProtecting(one))].flatMap((some) =>
    some.length === 0 ? [] : [{ method: "PATCH" as const, path: urlPath(["v1", "integrations", live.id]), body: bodyOf(some) }],
  );
  const needed = changes.some(({ path, after: value }) => path === "/paused" && value === false) ? requires() : [];
  return [
    {
      address: manifest.address,
      kind: manifest.kind,
      verb: "update",
      standing: "ready",
      liveId: live.id,
      ...(live.name === "" ? {} : { liveName: live.name }),
      changes,
      requests,
      ...(needed.length === 0 ? {} : { requires: needed }),
      ...defined({ binding }),
    },
  ];
}

const bodyOf = (changes: readonly PathChange<DraftFacts>[]): JsonObject =>
  Object.fromEntries(changes.map(({ path, after = null }) => [path.slice(1), after]));

/** The integration, as a sentence names it. */
export const integrationText = ({ id, name }: LiveIntegration): string =>
  name === "" ? `the integration ${id}` : `the integration ${JSON.stringify(name)} (${id})`;

/** How to change the setting at this path by hand, and which request changes it; undefined if there is none. */
export function settingByHand(
  path: Pointer,
  after: JsonValue,
  live: LiveIntegration,
): { readonly step: string; readonly why: string } | undefined {
  const name = names.find((one) => path === `/${one}`);
  if (name === undefined) return undefined;
  const why = settings[name].isByHand
    ? neverSent
    : `spec.expect is never sent. With service: { extended: true }, dimsync sends spec.settings.${name}.`;
  return { step: settings[name].byHand(after, integrationText(live)), why };
}

/** Why dimsync sends no change of a setting by hand: the end of a sentence. */
const neverSent =
  "dimsync never sends it, because a change can take the integration out of the rules that protect it, or show its data to other readers.";

/** What to do by hand, and why no request does it. */
function settingStep({ name, path, wanted, live: actual }: Different, live: LiveIntegration, extended: Extended | undefined) {
  const byHand = settings[name].byHand(wanted, integrationText(live));
  const why = settings[name].isByHand ? neverSent : whyNotSent(extended, "PATCH /v1/integrations/{id}");
  return { path, expected: wanted, ...defined({ actual }), instruction: `${byHand}, or correct spec.settings.${name}: ${why}` };
}

/** The live settings as the JSON document that bodies of PATCH point into. */
export const settingsDocument = (live: LiveIntegration): JsonObject =>
  defined(Object.fromEntries(names.map((name) => [name, liveSetting(live, name)]))) as JsonObject; // settings are JSON, and defined() removes undefined

/** Settings that differ between two readings and were not sent. Those of a schedule change each other. */
export function unintendedSettings(before: LiveIntegration, after: LiveIntegration, body: JsonObject): readonly Pointer[] {
  const sent = names.filter((name) => Object.hasOwn(body, name));
  const groups = new Set<string>(sent.flatMap((name) => settings[name].group ?? []));
  return names
    .filter((name) => !sent.includes(name) && !groups.has(settings[name].group ?? ""))
    .filter((name) => !sameJson(liveSetting(before, name), liveSetting(after, name)))
    .map((name): Pointer => `/${name}`);
}

/** The settings that import writes: those that the service shows and that are not empty. */
export const shownSettings = (live: LiveIntegration): JsonObject =>
  Object.fromEntries(Object.entries(settingsDocument(live)).filter(([, value]) => value !== null));
