import { createHash } from "node:crypto";
import { byText } from "../base/model/address.ts";
import { defined } from "../base/model/json/json.ts";
import { fromPointer } from "../base/model/json/pointer.ts";
import type { Blocked, Deferred, Manual, NotKept, ReadyStep, ReportRisk, Risk, Step, Unverifiable } from "../base/model/plan.ts";
import { riskOf } from "../base/model/schema-tree.ts";

// Steps that the plan does not send. They get their ids from the plan, except steps by hand, which keep theirs in every report.

type Unsent = Omit<Step, "id">;

const unsent = (
  address: string,
  standing: Step["standing"],
  rest: Partial<Omit<Unsent, "address" | "standing" | "why">> & { readonly why?: Step["why"] | undefined },
): Unsent => {
  const { verb = "none", changes = [], requests = [], why, ...others } = rest;
  return { address, verb, standing, ...others, changes, requests, ...defined({ why }) };
};

export function byHandStep({ address, path, expected, actual, instruction, command, origin, ...rest }: Manual): Step {
  const change = { path, ...defined({ before: actual, after: expected }), risk: "neutral", ...defined({ origin }) } as const;
  const why = { message: instruction, ...defined({ command }) };
  return { id: byHandId(address, path), ...unsent(address, "byHand", { ...rest, changes: [change], why }) };
}

const byHandId = (address: string, path: string): string =>
  `m-${createHash("sha256").update(`${address}\n${path}`).digest("hex").slice(0, 8)}`;

export const blockedStep = ({ address, ...why }: Blocked): Unsent => unsent(address, "blocked", { why });

export const waitingStep = ({ address, verb, waitsFor, liveId, why, desired }: Deferred): Unsent =>
  unsent(address, "waits", {
    verb,
    waitsFor,
    ...defined({ liveId }),
    changes: [{ path: "", after: desired, risk: "neutral" }],
    why: why === undefined ? undefined : { message: why },
  });

export const unseenStep = ({ address, paths, reason }: Unverifiable): Unsent =>
  unsent(address, "unseen", { changes: paths.map((path) => ({ path, risk: "neutral" })), why: { message: reason } });

export function notKeptStep({ address, path, wanted, live, since }: NotKept, risks: Readonly<Record<Risk, Risk | ReportRisk>>): Unsent {
  const key = fromPointer(path).at(-1);
  const isProtection = (key === "hashed" || key === "enabled") && typeof wanted === "boolean";
  const change = { path, before: live, after: wanted, risk: risks[isProtection ? riskOf(key, wanted) : "neutral"] };
  return unsent(address, "notKept", { changes: [change], ...defined({ since }) });
}

/** Items that `--protect-only` holds, then what waits for them. */
export const heldSteps = (items: readonly ReadyStep[], waiting: readonly Deferred[]): readonly Unsent[] => [
  ...items.map(({ address, verb, liveId, liveName, changes }) =>
    unsent(address, "held", { verb: verb, ...defined({ liveId, liveName }), changes }),
  ),
  ...[...waiting]
    .sort((a, b) => byText(a.address, b.address))
    .map(({ address, verb, waitsFor }) => unsent(address, "held", { verb, waitsFor })),
];
