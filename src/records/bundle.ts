import type { Binding } from "../model/address.ts";
import { type Address, byText } from "../model/address.ts";
import type { SeenColumns } from "../model/columns.ts";
import { DimsyncError } from "../model/errors.ts";
import { canonicalJson, isObject, own } from "../model/json/json.ts";
import { parseJson, whyNotJson } from "../model/json/parse.ts";
import type { OpenIntent } from "./history.ts";
import type { Intent } from "./journal-line.ts";
import type { Records } from "./records.ts";
import { type AppliedCommit, type ListLengths, parseAppliedCommit, parseSeenColumns } from "./stored-values.ts";

/** All records of one target, independent of the store: for export, restore and migration. Holds ids and digests, no values. */
export interface Bundle {
  readonly kind: "RecordsBundle";
  readonly formatVersion: "1.0";
  readonly target: string;
  readonly bindings: Readonly<Record<Address, Binding>>;
  readonly open: readonly Omit<OpenIntent, "entryId">[];
  /** Address -> id of the object that was created last. */
  readonly created: Readonly<Record<Address, string>>;
  readonly applied: readonly string[];
  readonly longestSeen: ListLengths;
  readonly columnsSeen?: SeenColumns;
  readonly appliedCommit?: AppliedCommit;
}

/** Throws as `Records.read` does. */
export async function bundleOf(records: Records, target: string): Promise<Bundle> {
  const state = await records.read();
  const applied = await records.applied();
  return {
    kind: "RecordsBundle",
    formatVersion: "1.0",
    target,
    bindings: Object.fromEntries([...state.bindings].sort(byKey)),
    open: state.open.map(({ entryId: _, ...intent }) => intent),
    created: Object.fromEntries([...state.created].map(([address, { id }]) => [address, id] as const).sort(byKey)),
    applied: applied.map(({ planId }) => planId).sort(),
    longestSeen: state.longestSeen,
    ...(state.columnsSeen === undefined ? {} : { columnsSeen: state.columnsSeen }),
    ...(state.appliedCommit === undefined ? {} : { appliedCommit: state.appliedCommit }),
  };
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => byText(a, b);

/** Whether two bundles are equal except for the names of their targets. */
export const sameRecords = (a: Bundle, b: Bundle): boolean => canonicalJson({ ...a, target: "" }) === canonicalJson({ ...b, target: "" });

export const isEmpty = ({ bindings, open, created, applied }: Bundle): boolean =>
  Object.keys(bindings).length + open.length + Object.keys(created).length + applied.length === 0;

/** Reads a bundle file. Throws E_RECORDS_BUNDLE (exit 1). */
export function parseBundle(text: string, file: string): Bundle {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw notABundle(file, `it ${whyNotJson(error, "is not valid JSON")}`, error);
  }
  if (!isObject(value) || own(value, "kind") !== "RecordsBundle") throw notABundle(file, "kind is not RecordsBundle");
  if (!/^1\./u.test(String(own(value, "formatVersion"))))
    throw notABundle(file, `formatVersion ${String(own(value, "formatVersion"))} is not supported`);
  for (const name of ["bindings", "created", "longestSeen"] as const)
    if (!isObject(own(value, name))) throw notABundle(file, `${name} must be a map`);
  for (const name of ["open", "applied"] as const) if (!Array.isArray(own(value, name))) throw notABundle(file, `${name} must be a list`);
  return value as unknown as Bundle;
}

const notABundle = (file: string, why: string, cause?: unknown): DimsyncError =>
  new DimsyncError("E_RECORDS_BUNDLE", `${file} is not a bundle of records: ${why}. Use a file that \`dimsync records export\` wrote.`, {
    cause,
  });

/** Writes a bundle into an empty store, under its lease. Throws as RecordsRun does. */
export async function importBundle(records: Records, bundle: Bundle, runId: string): Promise<void> {
  const run = await records.begin({ runId, waitMs: 0 });
  try {
    for (const planId of bundle.applied) await run.markApplied(planId);
    const created = Object.entries(bundle.created);
    const entries = await run.intend(created.map(([address]) => createdIntent(address, runId)));
    for (const [index, [, id]] of created.entries()) await run.settle(entries[index] ?? "", { outcome: "created", id });
    const opened = await run.intend(bundle.open.map(({ answeredId: _, ...intent }) => intent));
    for (const [index, { answeredId }] of bundle.open.entries())
      if (answeredId !== undefined) await run.settle(opened[index] ?? "", { outcome: "answered", id: answeredId });
    for (const [address, binding] of Object.entries(bundle.bindings)) await run.bind(address, binding);
    run.rememberLists(bundle.longestSeen);
    const columns = parseSeenColumns(bundle.columnsSeen);
    if (columns !== undefined) run.rememberColumns(columns);
    const commit = parseAppliedCommit(bundle.appliedCommit);
    if (commit !== undefined) run.rememberCommit(commit);
    await run.take();
  } finally {
    await run.release();
  }
}

/** For a create that was settled long ago, only the address and the id are kept. */
const createdIntent = (address: Address, runId: string): Intent => ({
  runId,
  address,
  kind: address.split("/")[0] ?? "",
  method: "POST",
  path: "",
  bodyDigest: "",
  at: new Date().toISOString(),
});
