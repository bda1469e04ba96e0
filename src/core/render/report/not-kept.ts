import { firstChange, notKeptValues } from "../../base/model/changes.ts";
import { fromPointer } from "../../base/model/json/pointer.ts";
import type { NotKept, Step } from "../../base/model/plan.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import { spaced, wholePath } from "../../base/text/paths.ts";
import { valueAt } from "../../base/text/values.ts";
import { type Entry, type Line, muted, name } from "../blocks.ts";

/** The desired values of an object that the service does not keep. */
export const notKeptEntry = (group: readonly [Step, ...Step[]]): Entry => ({
  sign: "≠",
  tone: "warn",
  head: [[name(group[0].address)], group.length === 1 ? notKeptValues({ steps: group }).map(notKeptText) : severalText(group)],
});

const severalText = (group: readonly Step[]): Line => [
  `${counted(group.length, "value")}:`,
  muted(
    andMore(
      group.map((step) => wholePath(firstChange(step).path)),
      "value",
      { shown: 5 },
    ),
  ),
];

/** How a manifest stops asking for the value. */
function wayOut(path: readonly string[]): string {
  const [first, key] = [path[0], path.at(-1)];
  if (first !== "schemas") return "write the value that the account has in the manifest";
  if (key === "syncMode" || key === "cursorField") return "set a sync mode and cursor that the table supports";
  return path.length > 5
    ? "exclude the columns from the rule (primary keys with where: { isPrimaryKey: false })"
    : "exclude the schemas and tables from the rule";
}

/** "public.orders.id hashed must be true, is false since 2026-11-27" */
export function notKeptText({ path, wanted, live, since }: NotKept): string {
  const values = `must be ${valueAt(path, wanted)}, is ${live === null ? "unknown" : valueAt(path, live)}`;
  return `${spaced(wholePath(path), values)} (${since === undefined ? "cannot be changed" : `not kept on ${since.slice(0, 10)}`})`;
}

/** What apply does about the values. */
function sentAgain(all: readonly Step[]): string {
  const protecting = all.filter((step) => firstChange(step).risk === "protects" || firstChange(step).risk === "exposed");
  if (protecting.length === 0) return "They are not sent again until the manifest or the account changes there.";
  if (protecting.length === all.length) return "They protect, so every apply sends them again.";
  return "Every apply sends those again that protect; the others are not sent again until the manifest or the account changes there.";
}

export function notKeptNote(all: readonly Step[]): string {
  const wasSent = all.some(({ since }) => since !== undefined);
  const why = wasSent
    ? `The account does not have these values: the service accepted them and did not keep them. ${sentAgain(all)}`
    : "The account does not have these values: the service says that requests change nothing of these tables.";
  const ways = [...new Set(all.map((step) => wayOut(fromPointer(firstChange(step).path))))];
  return `${why} To accept that, ${andMore(ways, "way")}, or add an entry with a reason to ignore in dimsync.yaml.`;
}
