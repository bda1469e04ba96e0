import type { Account } from "../../kinds/kind.ts";
import { isIntegration, isRuleSet, isSchemaConfig, isTag } from "../../kinds/manifests.ts";
import type { ReviewedIntegration } from "../../model/columns.ts";
import { canonicalJson } from "../../model/json/json.ts";
import { leavesOf } from "../../model/json/leaves.ts";
import { fromPointer } from "../../model/json/pointer.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { locationIn, type Manifest } from "../../model/manifest.ts";
import { below } from "../../model/problem.ts";
import type { Settings } from "../../model/settings/config.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { andMore } from "../../text/lists.ts";
import { nodeText } from "../../text/paths.ts";
import type { Draft, Review } from "./entry.ts";

// What checks, repairs or reports less than at the base, although no rule or policy of it changes.

/** A value of a target or manifest. `order`: its values from the weakest. */
interface Field<Of> {
  readonly name: string;
  readonly of: (from: Of) => unknown;
  readonly order: readonly unknown[] | ((before: number, now: number) => boolean);
}

const ofTarget: readonly Field<Settings>[] = [
  { name: "service.extended", of: ({ extended }) => extended === true, order: [false, true] },
  { name: "service.lists", of: ({ completeLists }) => (completeLists === true ? "complete" : "not set"), order: ["complete", "not set"] },
  { name: "notify", of: ({ notify }) => (notify === undefined ? "not set" : "set"), order: ["not set", "set"] },
  { name: "controller.mode", of: ({ controller }) => controller?.mode ?? "not set", order: ["not set", "report", "protect"] },
  {
    name: "controller.every, in minutes",
    of: ({ controller }) => (controller?.everyMs ?? 0) / 60_000,
    order: (before, now) => now > before,
  },
];

const ofManifest: readonly Field<Manifest>[] = [
  { name: "exclusive", of: (one) => isTag(one) && one.spec.exclusive === true, order: [false, true] },
  {
    name: "missing",
    of: (one) => (isSchemaConfig(one) ? (one.spec.missing ?? (one.spec.integrations === undefined ? "error" : "nowhere")) : ""),
    order: ["ignore", "warn", "nowhere", "error"],
  },
];

const isWeaker = <Of>({ of, order }: Field<Of>, before: Of, now: Of): boolean => {
  const [was, is] = [of(before), of(now)];
  if (typeof order !== "function") return order.indexOf(is) < order.indexOf(was);
  return typeof was === "number" && typeof is === "number" && order(was, is);
};

const textOf = <Of>({ name, of }: Field<Of>, before: Of, now: Of): string => `${name}: ${of(before)} at the base, ${of(now)} now.`;

/** `accounts`: a manifest that was renamed is the one with the same live object. */
export function droppedChecks({ base, head }: Review, accounts: { readonly before: Account; readonly now: Account }): readonly Draft[] {
  const dropped = (subject: string, message: string, place: Draft["place"]): Draft => ({
    code: "check-dropped",
    subject,
    message,
    at: "base",
    place,
  });
  const pairs = base.manifests.flatMap((before) => {
    const idIn = (account: Account, { address }: Manifest): string | undefined => {
      const identity = account.identities.get(address);
      return identity?.state === "found" ? identity.id : undefined;
    };
    const id = idIn(accounts.before, before);
    const isSame = (one: Manifest): boolean => one.kind === before.kind && id !== undefined && idIn(accounts.now, one) === id;
    const now = head.manifests.find(({ address }) => address === before.address) ?? head.manifests.find(isSame);
    return now === undefined ? [] : [{ before, now }];
  });
  const { settings } = base;
  const { target } = head.settings;
  const [expectedNow, rulesNow] = [expected(head), countedRules(head)];
  return [
    ...(settings === undefined ? [] : ofTarget.filter((field) => isWeaker(field, settings, head.settings))).map((field) =>
      dropped(
        `target ${visible(target)}`,
        textOf(field, settings ?? head.settings, head.settings),
        below(head.settings.place, ["targets", target]),
      ),
    ),
    ...pairs.flatMap(({ before, now }) =>
      ofManifest
        .filter((field) => isWeaker(field, before, now))
        .map((field) => dropped(before.address, textOf(field, before, now), locationIn(before, "/spec"))),
    ),
    ...pairs.flatMap(({ before, now }) => {
      if (!isIntegration(before) || !isIntegration(now)) return [];
      const still = new Set(leavesOf(now.spec.expect ?? {}).map(({ path }) => path));
      const gone = leavesOf(before.spec.expect ?? {}).flatMap(({ path }) => (still.has(path) ? [] : [fromPointer(path).join(".")]));
      return gone.length === 0
        ? []
        : [dropped(before.address, `expect: ${andMore(gone, "value")} is not checked any more.`, locationIn(before, "/spec/expect"))];
    }),
    ...base.manifests
      .filter(isSchemaConfig)
      .flatMap((config) =>
        (config.spec.expect ?? []).flatMap((one, index) =>
          expectedNow.has(canonicalJson(one))
            ? []
            : [dropped(config.address, `expect: entry ${index + 1} is not checked any more.`, locationIn(config, `/spec/expect/${index}`))],
        ),
      ),
    ...countedRules(base).flatMap(({ rule, text, owner, index }) => {
      const least = rule.minMatches ?? 1;
      const same = rulesNow.filter((one) => one.text === text);
      const now = same.length > 0 ? same : rulesNow.filter((one) => rule.id !== undefined && one.rule.id === rule.id);
      const most = now.reduce((max, one) => Math.max(max, one.rule.minMatches ?? 1), 0);
      if (now.length === 0 || most >= least) return [];
      return [
        dropped(
          owner.address,
          `minMatches of rule ${visible(rule.id ?? String(index + 1))}: ${least} at the base, ${most} now.`,
          locationIn(owner, `/spec/rules/${index}`),
        ),
      ];
    }),
  ];
}

const expected = ({ manifests }: Pick<Review["head"], "manifests">): ReadonlySet<string> =>
  new Set(manifests.filter(isSchemaConfig).flatMap(({ spec }) => (spec.expect ?? []).map((one) => canonicalJson(one))));

const countedRules = ({ manifests }: Pick<Review["head"], "manifests">) =>
  manifests.flatMap((owner) =>
    isSchemaConfig(owner) || isRuleSet(owner)
      ? (owner.spec.rules ?? []).flatMap((rule, index) =>
          "match" in rule ? [{ rule, text: canonicalJson(rule.match), owner, index }] : [],
        )
      : [],
  );

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
