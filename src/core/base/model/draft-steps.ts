import { createHash } from "node:crypto";
import type { Address } from "./address.ts";
import { defined, type JsonValue } from "./json/json.ts";
import { fromPointer, type Pointer } from "./json/pointer.ts";
import type { Action, DraftStep, NotKept, Step } from "./plan.ts";
import { riskOf } from "./schema-tree.ts";
import type { Code } from "./titles.ts";

// Steps that are not sent, as kinds and checks make them.

/** A difference that no request can fix. */
interface ByHand extends Pick<Step, "address" | "liveId" | "liveName" | "manifests" | "obligation"> {
  /** JSON Pointer into the live object. */
  readonly path: Pointer;
  /** The desired value. */
  readonly expected?: JsonValue;
  /** The live value. */
  readonly actual?: JsonValue;
  /** What a user must do. */
  readonly instruction: string;
  readonly command?: string;
  readonly origin?: "drift";
}

/** A step by hand keeps its id in every report. */
export function byHandStep({ address, path, expected, actual, instruction, command, origin, ...rest }: ByHand): DraftStep {
  const change = { path, ...defined({ before: actual, after: expected }), risk: "neutral", ...defined({ origin }) } as const;
  const why = { message: instruction, ...defined({ command }) };
  const id = `h-${createHash("sha256").update(`${address}\n${path}`).digest("hex").slice(0, 8)}`;
  return { id, address, verb: "none", standing: "byHand", ...rest, changes: [change], requests: [], why };
}

/** An object that must not be changed, and why. */
export interface Blocked {
  readonly address: Address;
  readonly code: Code;
  readonly message: string;
  readonly command?: string;
}

export const blockedStep = ({ address, ...why }: Blocked): DraftStep => ({
  ...{ address, verb: "none", standing: "blocked", changes: [], requests: [] },
  why,
});

/** What waits for an object that the same run creates, or for a schema that the service discovers. */
interface Waiting extends Pick<DraftStep, "address" | "later"> {
  readonly verb: Action;
  readonly waitsFor: readonly Address[];
  /** Absent if the object does not exist yet. */
  readonly liveId?: string;
  /** What the service answers as long as the schema is missing. */
  readonly why?: string;
  /** The desired value in full. */
  readonly desired: JsonValue;
}

export const waitingStep = ({ address, verb, waitsFor, liveId, why, desired, later }: Waiting): DraftStep => ({
  ...{ address, verb, standing: "waits", waitsFor },
  ...defined({ liveId }),
  changes: [{ path: "", after: desired, risk: "neutral" }],
  requests: [],
  ...defined({ why: why === undefined ? undefined : { message: why }, later }),
});

/** Declared values that the service never returns; no step without any. */
export const unseenSteps = (address: Address, paths: readonly Pointer[], message: string): readonly DraftStep[] =>
  paths.length === 0
    ? []
    : [
        {
          ...{ address, verb: "none", standing: "unseen" },
          changes: paths.map((path) => ({ path, risk: "neutral" })),
          requests: [],
          why: { message },
        },
      ];

export function notKeptStep({ address, path, wanted, live, since }: NotKept): DraftStep & Omit<Step, "id"> {
  const key = fromPointer(path).at(-1);
  const isProtection = (key === "hashed" || key === "enabled") && typeof wanted === "boolean";
  const change = { path, before: live, after: wanted, risk: isProtection ? riskOf(key, wanted) : "neutral" } as const;
  return { address, verb: "none", standing: "notKept", ...defined({ since }), changes: [change], requests: [] };
}
