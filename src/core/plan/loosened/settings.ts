import { limitGuards } from "../../base/model/findings.ts";
import { canonicalJson } from "../../base/model/json/json.ts";
import { below } from "../../base/model/problem.ts";
import type { AllowEntry, Guards, IgnoreEntry, Settings } from "../../base/model/settings/config.ts";
import { visible } from "../../base/text/control-characters.ts";
import type { Run } from "../run.ts";
import { type Draft, type Review, until } from "./entry.ts";

// What dimsync.yaml gives up.

/** The lower limit of each guard: a pull request that raises one is still checked by the one that was reviewed. */
export function stricterGuards(head: Guards, base: Guards | undefined): Guards {
  if (base === undefined) return head;
  const least = (name: (typeof limitGuards)[number]): number => Math.min(head[name], base[name]);
  return Object.fromEntries(limitGuards.map((name) => [name, least(name)])) as Guards; // one for each limit
}

/** Whether `review` is strict, at the base or now; a drift report describes the account and refuses nothing. */
export function isStrict({ project, options, kind }: Run): boolean {
  const before = options.review === undefined ? undefined : options.base?.settings?.review;
  return kind === "Plan" && [before, project.settings.review].includes("strict");
}

export function loosenedSettings({ base, head, today }: Review): readonly Draft[] {
  if (base.settings === undefined) return [];
  const [before, now] = [base.settings, head.settings];
  return [
    ...loosenedGuards(before, now),
    ...addedEntries(before.allow, now.allow, today).map(allowAdded),
    ...addedEntries(before.ignore, now.ignore, today).map(ignoreAdded),
    ...managedLess(before, now),
    ...fewerFiles({ base, head }),
  ];
}

const loosenedGuards = (before: Settings, now: Settings): readonly Draft[] =>
  limitGuards.flatMap((name) =>
    now.guards[name] > before.guards[name]
      ? [
          {
            code: "guard-raised",
            subject: `guard ${name}`,
            message: `${before.guards[name]} at the base, ${now.guards[name]} now. Until this is merged, the plan is checked with the value of the base.`,
            ...placeOfGuard(name, before, now),
          },
        ]
      : [],
  );

/** Where the guard is set now, else where it was set. */
function placeOfGuard(guard: keyof Guards, before: Settings, now: Settings): Pick<Draft, "at" | "place"> {
  const [atHead, atBase] = [now.guardPlaces?.[guard], before.guardPlaces?.[guard]];
  return atHead === undefined && atBase !== undefined ? { at: "base", place: atBase } : { at: "head", place: atHead ?? now.place };
}

/** The entries of now that have not ended and that the base does not have, or has with an earlier end. */
function addedEntries<E extends AllowEntry | IgnoreEntry>(before: readonly E[], now: readonly E[], today: string): readonly E[] {
  const textOf = ({ place: _, reason: __, until: ___, ...entry }: E): string => canonicalJson(entry);
  const endOf = (entry: E): string => entry.until ?? "9999";
  const isCovered = (entry: E): boolean => before.some((other) => textOf(other) === textOf(entry) && endOf(other) >= endOf(entry));
  return now.filter((entry) => endOf(entry) >= today && !isCovered(entry));
}

const allowAdded = ({ guard, address, reason, until: last, place }: AllowEntry): Draft => ({
  code: "allow-added",
  subject: `guard ${guard}`,
  message: `dimsync.yaml lifts it ${address === undefined ? "" : `for ${visible(address)} `}${until(last)}: ${visible(reason)}.`,
  at: "head",
  place,
});

const ignoreAdded = ({ address, path, reason, until: last, place }: IgnoreEntry): Draft => ({
  code: "ignore-added",
  subject: visible(address),
  message: `Differences ${path === "" ? "at every path" : `at ${visible(path)} and below`} are neither shown nor changed any more, ${until(last)}: ${visible(reason)}.`,
  at: "head",
  place,
});

function managedLess(before: Settings, now: Settings): readonly Draft[] {
  const target = `target ${visible(now.target)}`;
  const ofTarget = ["targets", now.target];
  const rows: readonly (readonly [isLess: boolean, path: readonly string[], subject: string, message: string])[] = [
    [
      before.protected && !now.protected,
      [...ofTarget, "protected"],
      target,
      "It is not protected any more: apply accepts plans that were not saved and reviewed.",
    ],
    [
      before.review === "strict" && now.review !== "strict",
      ["review"],
      "review",
      "strict at the base, report now. Until this is merged, the plan is checked with the value of the base.",
    ],
    [
      before.catalogFile !== undefined && now.catalogFile === undefined,
      [...ofTarget, "catalog"],
      target,
      "It has no catalog any more, so new columns are not reviewed.",
    ],
  ];
  return rows.flatMap(([isLess, path, subject, message]) =>
    isLess ? [{ code: "managed-less", subject, message, at: "base", place: below(before.place, path) }] : [],
  );
}

function fewerFiles({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  const now = new Set([...head.patterns.shared, ...head.patterns.own]);
  const gone = [...base.patterns.shared, ...base.patterns.own].filter((pattern) => !now.has(pattern));
  if (gone.length === 0) return [];
  return [
    {
      code: "managed-less",
      subject: "manifests",
      message: `dimsync.yaml does not read ${gone.map((pattern) => visible(pattern)).join(", ")} any more.`,
      at: "base",
      place: below(base.settings?.place, base.patterns.shared.some((pattern) => gone.includes(pattern)) ? ["manifests"] : []),
    },
  ];
}
