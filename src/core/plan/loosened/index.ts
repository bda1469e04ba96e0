import { eachChange } from "../../base/model/changes.ts";
import { loosenedRules } from "../../base/model/findings.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { draftItems, type Finding } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import type { Account, DiffResult, Pair, Unit } from "../../kinds/index.ts";
import { integrationNames, labelScopes, nameInAddresses, schemasAddress, withDeclaredNames } from "../../kinds/index.ts";
import type { Check, CheckInput, SeenIntegration } from "../checks/check.ts";
import { objectOf, type Reviewed } from "../origin.ts";
import { everything } from "../scope.ts";
import { exemptionDrafts, policyDrafts, policyTallies, protectionTallies, type ReviewedTree } from "./columns.ts";
import { acceptedAhead, droppedChecks, goneTargets } from "./dropped.ts";
import { type Draft, located, type Review } from "./entry.ts";
import { type LostLabels, labelTallies } from "./labels.ts";
import { askLater } from "./later.ts";
import { ignoringRules, newExemptions, policyPairs } from "./manifests.ts";
import { type Released, releasedObjects } from "./released.ts";
import { isStrict, loosenedSettings } from "./settings.ts";

// What a pull request gives up: everything that makes the rules of the project weaker than at the base, whether or not the plan sends anything for it.

/** What the manifests no longer have since the base, and in a review what they give up. Unknown if a read failed. */
export function checkLoosened(input: CheckInput): Check {
  const { run, account, reviewed } = input;
  const { base, review } = run.options;
  if (base === undefined || reviewed === undefined) return {};
  const loosened = review !== undefined ? newLoosened({ base, head: run.project, today: run.today }, account, reviewed) : undefined;
  return {
    tree: (seen) => loosened?.see(seen),
    async end(comparison) {
      const isWhole = run.kind === "Plan" && run.scope === everything && reviewed.isComplete && account.isComplete && comparison.complete;
      if (!isWhole) return {};
      const released = await releasedObjects({ run, account, reviewed, comparison, onLive: loosened?.seeReleased });
      if (loosened === undefined) return { findings: released.map((one) => located(releasedDraft(one), { base, head: run.project })) };
      const refuses = isStrict(run) ? ({ refuses: "loosened" } as const) : {};
      const findings = loosened.entries(released).map((entry) => ({ ...entry, ...refuses }));
      return { findings, loosenedSince: review === "before merge" ? "base" : "applied" };
    },
  };
}

interface LoosenedAccount {
  readonly see: (seen: SeenIntegration) => undefined;
  /** An integration that the base manifests select and those of now do not, or not with this object. */
  readonly seeReleased: (before: Pair, now: Unit | undefined, live: unknown) => void;
  readonly entries: (released: readonly Released[]) => readonly Finding[];
}

export function newLoosened(review: Review, account: Account, base: Reviewed): LoosenedAccount {
  const pairs = policyPairs(review);
  const labels = labelTallies(review);
  const policies = policyTallies(pairs, review, labels);
  const protection = protectionTallies(review, { base, ignoredNow: account.ignored, labels });
  const accounts = { before: withDeclaredNames(base.account), now: withDeclaredNames(account) };
  const ahead = acceptedAhead(review, accounts);
  const later = askLater(review, accounts, labels.areChanged);
  const scopes = { before: labelScopes(accounts.before), now: labelScopes(accounts.now) };
  const [namesOf, namesBefore] = [integrationNames(accounts.now), integrationNames(accounts.before)];
  const addTree = (liveId: string, live: LiveSchemas, planned: ReviewedTree["planned"]): LostLabels => {
    const tree = {
      integration: namesOf(liveId),
      was: namesBefore(liveId),
      live,
      planned,
      labels: { before: scopes.before?.(liveId), now: scopes.now?.(liveId) },
    };
    const lost: LostLabels = labels.isNeeded ? labels.add(tree) : new Map();
    policies.add(tree, lost);
    ahead.add({ address: schemasAddress(nameInAddresses(liveId, account)), id: liveId, name: liveId }, live);
    later.add(liveId, live);
    return lost;
  };
  return {
    see({ id, tree, pair }) {
      if (tree === undefined) return;
      const planned = pair === undefined ? new Map() : plannedIn(pair.difference);
      const lost = addTree(id, tree, planned);
      const before = pair && base.pairs.get(objectOf(pair));
      if (before !== undefined) protection.add(before, pair?.unit, { live: pair?.live, planned, lost });
    },
    seeReleased(before, now, live) {
      const { kind, unit } = before;
      if (kind.schemas === undefined || live === undefined) return;
      const isGone = now === undefined && unit.liveId !== undefined;
      const lost: LostLabels = isGone ? addTree(unit.liveId, kind.schemas.tree(live), new Map()) : new Map();
      protection.add(before, now, { live, planned: new Map(), lost });
    },
    entries: (released) => {
      for (const tree of later.integrations()) policies.addLater(tree);
      const lost = protection.drafts();
      return inOrder([
        ...unreadFiles(review),
        ...policyDrafts(pairs, policies),
        ...exemptionDrafts(newExemptions(pairs, review.today), policies.exempt),
        ...loosenedSettings(review),
        ...ignoringRules(review),
        ...droppedChecks(review, accounts),
        ...ahead.drafts(),
        ...goneTargets(review),
        ...lost,
        ...later.drafts(lost, labels.lost),
        ...labels.drafts(),
        ...released.map(releasedDraft),
      ]).map((draft) => located(draft, review));
    },
  };
}

function plannedIn(difference: DiffResult): ReadonlyMap<Pointer, boolean> {
  const planned = new Map<Pointer, boolean>();
  for (const item of draftItems(difference))
    for (const { path, after } of eachChange(item)) if (typeof after === "boolean") planned.set(path, after);
  return planned;
}

const inOrder = (drafts: readonly Draft[]): readonly Draft[] =>
  [...drafts].sort((a, b) => loosenedRules.indexOf(a.code) - loosenedRules.indexOf(b.code));

/** A file that is broken at the base may be repaired by this pull request, and git may not have what dbt writes. */
function unreadFiles({ base: { unread, settings, unknownLabels = [] } }: Review): readonly Draft[] {
  const unknown = (file: string, message: string): Draft => ({ code: "unknown", subject: visible(file), message, at: "base" });
  return [
    ...(settings === undefined ? [unknown("dimsync.yaml", "It could not be used at the base, so nothing of it could be compared.")] : []),
    ...unread.map(({ file, codes }) => unknown(file, `It has errors at the base (${codes}), so what it protected there is not known.`)),
    ...unknownLabels.map((file) =>
      unknown(
        file,
        "It is not in git, and this pull request changes YAML files of its dbt project. dimsync cannot tell whether columns lost a label: compare meta and tags in these files, or commit the manifest.",
      ),
    ),
  ];
}

const releasedDraft = ({ address, name, columns }: Released): Draft => ({
  code: "released",
  subject: visible(address),
  message:
    name === undefined
      ? `It is not managed any more${columns === 0 ? "" : `, with ${counted(columns, "column")}`}. dimsync sends nothing; the account keeps it.`
      : `The manifest does not list ${visible(name)} any more. dimsync sends nothing; it keeps the tag.`,
  at: "base",
  columns,
});
