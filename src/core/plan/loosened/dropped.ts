import type { ReviewedIntegration } from "../../base/model/columns.ts";
import { canonicalJson } from "../../base/model/json/json.ts";
import { fromPointer, leavesOf } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { locationIn, type Manifest } from "../../base/model/manifest.ts";
import { below } from "../../base/model/problem.ts";
import type { Settings } from "../../base/model/settings/config.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted, durationText } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import { type Account, isIntegration, isRuleSet, isSchemaConfig, isTag, replicatesNothingNew } from "../../kinds/index.ts";
import type { Draft, Review } from "./entry.ts";

// What checks, repairs or reports less than at the base, although no rule or policy of it changes.

/** Something that a target or manifest asks for. Only what has the same key on both sides is compared. */
interface Asked {
  readonly key: string;
  readonly subject: string;
  readonly name: string;
  readonly value: unknown;
  /** Less is weaker. */
  readonly strength: number;
  readonly place: Draft["place"];
  /** Whether it is an assertion, which is weaker if it is gone; what else is gone went with its manifest. */
  readonly isAssertion?: true;
}

type Side = Pick<Review["base"], "manifests" | "settings">;

/** A row for each field: its values from the weakest. */
const ofTarget: readonly (readonly [name: string, of: (settings: Settings) => unknown, order: readonly unknown[]])[] = [
  ["service.extended", ({ extended }) => extended === true, [false, true]],
  ["service.lists", ({ completeLists }) => (completeLists === true ? "complete" : "not set"), ["complete", "not set"]],
  ["notify", ({ notify }) => (notify === undefined ? "not set" : "set"), ["not set", "set"]],
  ["controller.mode", ({ controller }) => controller?.mode ?? "not set", ["not set", "report", "protect"]],
];
const missingOrder = ["ignore", "warn", "nowhere", "error"];

function askedOfTarget({ settings }: Side, target: string): readonly Asked[] {
  if (settings === undefined) return [];
  const of = { subject: `target ${visible(target)}`, place: below(settings.place, ["targets", target]) };
  const everyMs = settings.controller?.everyMs;
  const every =
    everyMs === undefined ? [] : [{ ...of, key: "every", name: "controller.every", value: durationText(everyMs), strength: -everyMs }];
  return [
    ...ofTarget.map(([name, read, order]) => ({
      ...of,
      key: name,
      name,
      value: read(settings),
      strength: order.indexOf(read(settings)),
    })),
    ...every,
  ];
}

function askedOf(manifest: Manifest, account: Account): readonly Asked[] {
  const identity = account.identities.get(manifest.address);
  // A manifest that was renamed is the one with the same live object.
  const object = identity?.state === "found" ? `${manifest.kind} ${identity.id}` : manifest.address;
  const at = (pointer: string) => ({ subject: manifest.address, place: locationIn(manifest, pointer) });
  const assertion = (key: string, name: string, pointer: string): Asked => ({
    ...at(pointer),
    key,
    name,
    value: "",
    strength: 1,
    isAssertion: true,
  });
  if (isTag(manifest)) {
    const { exclusive = false } = manifest.spec;
    return [{ ...at("/spec"), key: object, name: "exclusive", value: exclusive, strength: Number(exclusive) }];
  }
  if (isIntegration(manifest)) {
    const value = manifest.spec.settings?.onSchemaUpdate ?? "not set";
    const name = "settings.onSchemaUpdate";
    return [
      { ...at("/spec/settings"), key: `${object} ${name}`, name, value, strength: Number(replicatesNothingNew.includes(value)) },
      ...leavesOf(manifest.spec.expect).map(({ path }) =>
        assertion(`${object} ${path}`, `expect ${fromPointer(path).join(".")}`, "/spec/expect"),
      ),
    ];
  }
  if (!isSchemaConfig(manifest) && !isRuleSet(manifest)) return [];
  const matches = (manifest.spec.rules ?? []).flatMap((rule, index): readonly Asked[] => {
    if (!("match" in rule)) return [];
    const { id = canonicalJson(rule.match), minMatches = 1 } = rule;
    return [
      {
        ...at(`/spec/rules/${index}`),
        key: `${manifest.address} ${id}`,
        name: `minMatches of rule ${visible(rule.id ?? String(index + 1))}`,
        value: minMatches,
        strength: minMatches,
      },
    ];
  });
  if (isRuleSet(manifest)) return matches;
  const { missing = manifest.spec.integrations === undefined ? "error" : "nowhere", expect = [] } = manifest.spec;
  return [
    ...matches,
    { ...at("/spec"), key: object, name: "missing", value: missing, strength: missingOrder.indexOf(missing) },
    ...expect.map((one, index) => assertion(canonicalJson(one), `expect entry ${index + 1}`, `/spec/expect/${index}`)),
  ];
}

export function droppedChecks({ base, head }: Review, accounts: { readonly before: Account; readonly now: Account }): readonly Draft[] {
  const askedIn = (side: Side, account: Account): readonly Asked[] => [
    ...askedOfTarget(side, head.settings.target),
    ...side.manifests.flatMap((manifest) => askedOf(manifest, account)),
  ];
  const now = new Map(askedIn(head, accounts.now).map((one) => [one.key, one]));
  return askedIn(base, accounts.before).flatMap(({ key, subject, name, value, strength, place, isAssertion }): readonly Draft[] => {
    const is = now.get(key);
    const isWeaker = is === undefined ? isAssertion === true : is.strength < strength;
    if (!isWeaker) return [];
    const message =
      isAssertion === true ? `${name} is not checked any more.` : `${name}: ${value} at the base, ${is?.value ?? "not set"} now.`;
    return [{ code: "check-dropped", subject, message, at: "base", place }];
  });
}

/** Targets that the head does not have. */
export function goneTargets({ base, head }: Review): readonly Draft[] {
  const now = new Set(head.settings.targets);
  const gone = (base.settings?.targets ?? []).filter((target) => !now.has(target));
  return gone.map((target) => ({
    code: "target-gone",
    subject: `target ${visible(target)}`,
    message: "It is gone: nothing compares its account with manifests any more, and dimsync sends nothing there.",
    at: "base",
    place: below(base.settings?.place, ["targets", target]),
  }));
}

const mostNames = 5;

/** Collects entries of the catalog that no column of the account has, and that the base does not have. */
export function acceptedAhead({ base, head }: Review, accounts: { readonly before: Account; readonly now: Account }) {
  const isChanged = head.catalog !== undefined && base.catalog?.text !== head.catalog.text;
  const names: string[] = [];
  let columns = 0;
  return {
    add(unit: ReviewedIntegration, live: LiveSchemas): void {
      if (!isChanged) return;
      const goneIn = ({ review }: Account): readonly string[] =>
        (review?.compare(unit, live).gone ?? []).flatMap(({ schema, table, columns: all }) =>
          all.map((column) => nodeText([schema, table, column])),
        );
      const known = new Set(goneIn(accounts.before));
      for (const name of goneIn(accounts.now).filter((one) => !known.has(one))) {
        columns++;
        if (names.length < mostNames) names.push(visible(name));
      }
    },
    drafts: (): readonly Draft[] =>
      columns === 0
        ? []
        : [
            {
              code: "accepted-ahead",
              subject: head.catalog?.file ?? "catalog",
              message: `It accepts ${counted(columns, "column")} that the account does not have: ${andMore(names, "column", { total: columns })}. When they come, nobody reviews them.`,
              at: "head",
              columns,
            },
          ],
  };
}
