import { objectAddress } from "../../../core/model/address.ts";
import { eachChange } from "../../../core/model/changes.ts";
import type { PolicyFinding } from "../../../core/model/findings.ts";
import { defined } from "../../../core/model/json/json.ts";
import type { Change, Item, Manual, Plan } from "../../../core/model/plan.ts";
import { ruleText } from "../../../core/text/describe.ts";
import type { Finding, FindingDetail } from "../views/status.ts";
import { oneParagraph } from "./check.ts";

/** A finding of one report. `key` identifies it in later reports of the account. */
export interface FoundFinding extends Pick<Finding, "kind" | "address" | "path" | "risk" | "cause" | "detail" | "actor"> {
  readonly key: string;
  /** When the change was made, by the audit log: ISO 8601. */
  readonly since?: string;
}

/** More are not stored; none is closed then. */
export const maxFindings = 5_000;

/** The worst first. */
export const risks: readonly Finding["risk"][] = ["exposed", "error", "stricter", "warning", "neutral", "info"];

/** What a drift report found, exposed first, at most `maxFindings`: no more are made of a report with a million changes. */
export function findingsOf(report: Plan): readonly FoundFinding[] {
  const policy = report.policy.filter(({ state }) => state !== "fixed");
  const attributionOf = attributions(report, policy);
  const others = [
    ...report.manual.map(ofManual),
    ...report.blocked.filter(isCause).map(
      ({ address, code, message, command }): FoundFinding => ({
        key: `blocked ${address} ${code}`,
        kind: "blocked",
        address,
        path: "",
        risk: "neutral",
        cause: `${code} ${address}`,
        detail: { text: oneParagraph(message, command) },
      }),
    ),
    ...policy.map((finding) => ofPolicy(finding, attributionOf(finding))),
  ];
  const items = report.items.filter(({ action }) => action !== "bind");
  const found = new Map<string, FoundFinding>();
  for (const risk of risks)
    for (const some of [...items.map((item) => ofItem(item, risk)), others.filter((finding) => finding.risk === risk)])
      for (const finding of some) {
        found.set(finding.key, finding);
        if (found.size === maxFindings) return [...found.values()];
      }
  return [...found.values()];
}

/** What a failed read leaves unknown is not a cause: the failure of the run is. */
const isCause = ({ code }: Plan["blocked"][number]): boolean => code !== "E_READ_FAILED";

/** Those with this risk. A missing object is one finding, whatever it would contain. */
function* ofItem(item: Item, risk: Finding["risk"]): Generator<FoundFinding> {
  const { address, action, changes, manifests } = item;
  if (action === "create" || changes.length === 0) {
    if (risk === "neutral")
      yield {
        key: `${action} ${address}`,
        kind: "change",
        address,
        path: "",
        risk,
        cause: `${action} ${address}`,
        detail: { text: action === "create" ? "missing in the account" : action },
      };
    return;
  }
  const manifest = manifests?.at(-1) ?? objectAddress(address);
  for (const change of eachChange({ changes: changes.filter((entry) => riskOf(entry) === risk) }))
    yield ofChange(address, manifest, change);
}

const riskOf = ({ risk }: Pick<Change, "risk">): Finding["risk"] => (risk === "exposed" || risk === "stricter" ? risk : "neutral");

function ofChange(address: string, manifest: string, change: Change): FoundFinding {
  const { path, before, after, cause, attribution } = change;
  return {
    key: `change ${address} ${path}`,
    kind: "change",
    address,
    path,
    cause: causeText(manifest, change),
    risk: riskOf(change),
    detail: defined({ actual: before, desired: after, cause, attribution: attributed(attribution) }),
    ...madeBy(attribution),
  };
}

/** The rule, which several accounts share, or else the manifest and the setting. */
function causeText(manifest: string, { cause, path }: Change): string {
  if (cause?.rule !== undefined) return `${manifest}, ${ruleText(cause.rule, cause.rule)}`;
  return path === "" ? manifest : `${manifest} ${path}`;
}

function ofManual({ id, address, path, expected, actual, instruction, attribution }: Manual): FoundFinding {
  return {
    key: `manual ${id}`,
    kind: "manual",
    address,
    path,
    risk: "neutral",
    cause: `${address} ${path}`,
    detail: defined({ actual, desired: expected, text: instruction, attribution: attributed(attribution) }),
    ...madeBy(attribution),
  };
}

function ofPolicy(
  { policy, severity, address, path, message }: PolicyFinding,
  attribution: Change["attribution"] | undefined,
): FoundFinding {
  return {
    key: `policy ${policy} ${address} ${path}`,
    kind: "policy",
    address,
    path,
    risk: severity,
    cause: policy,
    detail: defined({ policy, text: message, attribution: attributed(attribution) }),
    ...madeBy(attribution),
  };
}

/** Who changed what a finding of a policy is about: its path, or else the closest node above it that was changed. */
function attributions(
  { items, manual }: Plan,
  findings: readonly PolicyFinding[],
): (finding: PolicyFinding) => Change["attribution"] | undefined {
  const wanted = new Set(findings.flatMap((finding) => placesOf(finding)));
  const found = new Map<string, Change["attribution"]>();
  const note = (address: string, { path, attribution }: Pick<Change, "path" | "attribution">): void => {
    if (attribution === undefined) return;
    // The change itself, and the node that has it.
    for (const place of placesOf({ address, path }).slice(0, 2)) if (wanted.has(place) && !found.has(place)) found.set(place, attribution);
  };
  if (wanted.size > 0) {
    for (const item of items) for (const change of eachChange(item)) note(item.address, change);
    for (const step of manual) note(step.address, step);
  }
  return (finding) => placesOf(finding).flatMap((place) => found.get(place) ?? [])[0];
}

/** The path and the nodes above it, the closest first, as keys. */
function placesOf({ address, path }: Pick<PolicyFinding, "address" | "path">): readonly string[] {
  const places = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) places.push(`${address} ${path.slice(0, end)}`);
  return places;
}

/** The time is text of the service. */
function madeBy(attribution: Change["attribution"]): Pick<FoundFinding, "actor" | "since"> {
  const ms = Date.parse(attribution?.at ?? "");
  return defined({ actor: attribution?.actor, since: Number.isNaN(ms) ? undefined : new Date(ms).toISOString() });
}

function attributed(attribution: Change["attribution"]): FindingDetail["attribution"] {
  if (attribution === undefined) return undefined;
  const { actor, at, confidence, event } = attribution;
  return { ...defined({ actor }), at, confidence, event };
}
