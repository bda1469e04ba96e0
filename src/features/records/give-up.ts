import { type Address, integrationOfSchemas, kindOf } from "../../core/base/model/address.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { countKept, type KeptById, type KeptSchemas, keptById, keptJson, withoutNodes } from "../../core/base/model/kept.ts";
import type { NodePath } from "../../core/base/model/nodes.ts";
import { counted } from "../../core/base/text/counts.ts";
import { nodeText } from "../../core/base/text/paths.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { integrationAddress, kindNames, schemasAddress } from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import type { Facts, RecordsState } from "../../core/records/index.ts";
import { changeRecords, type RecordsChange } from "./ids.ts";

interface Decision {
  /** `Schemas/orders`, by the name of the integration or its id; `Tag/pii#8f1c`. */
  readonly address: Address;
  /** What of the schemas; undefined: all. */
  readonly path: NodePath | undefined;
  readonly reason: string;
}

/**
 * Gives up what earlier runs kept hashed or disabled, and what a selector covered. What the manifests keep and the account shows is recorded again by
 * the next apply. Sends no request. Throws E_UNKNOWN_ADDRESS.
 */
export const giveUp = (project: Project, decision: Decision, change: RecordsChange): Promise<void> =>
  changeRecords(project, change, async (records, say) => {
    const { facts, said } = decided(records.state(), { ...decision, at: new Date().toISOString() });
    records.remember(facts);
    say(said);
  });

/** What to record of the decision, and what is given up in a sentence. Throws E_UNKNOWN_ADDRESS. */
export function decided(
  state: Pick<RecordsState, "kept" | "covered" | "bindings">,
  { address, path, reason, at }: Decision & { readonly at: string },
): { readonly facts: Facts; readonly said: string } {
  const [tag, resource] = address.split("#");
  const name = resource ?? integrationOfSchemas(address);
  const before = keptById(state.kept);
  const ids = name === undefined || resource !== undefined ? [] : idsNamed(name, before, state);
  const left = new Map<string, KeptSchemas>(ids.map((id) => [id, withoutNodes(before.get(id)?.schemas ?? new Map(), path)]));
  const nodes = ids.reduce((sum, id) => sum + countKept(before.get(id)?.schemas) - countKept(left.get(id)), 0);
  const isMeant = (id: string, was: string): boolean => id === name || (resource === undefined && (was === name || ids.includes(id)));
  const covered =
    path !== undefined
      ? []
      : [...state.covered].filter(
          ([of, all]) =>
            (resource === undefined ? kindOf(of) === kindNames.schemaConfig : of === tag) && [...all].some(([id, was]) => isMeant(id, was)),
        );
  const what = path === undefined ? address : `${address} ${nodeText(path)}`;
  if (nodes === 0 && covered.length === 0) throw unknown(what, before);
  const kept = keptJson(
    new Map(
      [...before]
        .map(([id, one]) => [id, { ...one, schemas: left.get(id) ?? one.schemas }] as const)
        .filter(([, { schemas }]) => schemas.size > 0),
    ),
  );
  const parts = [...(nodes === 0 ? [] : [counted(nodes, "hashed or disabled node")]), ...covered.map(([of]) => `what ${of} selected`)];
  return {
    facts: {
      ...(nodes === 0 ? {} : { kept }),
      covered: new Map(covered.map(([of, all]) => [of, new Map([...all].filter(([id, was]) => !isMeant(id, was)))])),
      givenUp: { what, reason, at },
    },
    said: `${what}: gave up ${parts.join(" and ")}. The next apply records again what the manifests keep there.`,
  };
}

/** By id, by the manifest that is bound to it, or by the name in the account. */
function idsNamed(name: string, kept: KeptById, { bindings }: Pick<RecordsState, "bindings">): readonly string[] {
  const id = [name, bindings.get(integrationAddress(name))?.id].find((one) => one !== undefined && kept.has(one));
  return id !== undefined ? [id] : [...kept].flatMap(([one, { identity }]) => (identity[0] === name ? [one] : []));
}

function unknown(what: string, kept: KeptById): DimsyncError {
  const names = [...kept].flatMap(([id, { identity }]) => [schemasAddress(identity[0] ?? id), schemasAddress(id)]);
  return new DimsyncError("E_UNKNOWN_ADDRESS", `The records have nothing to give up of ${JSON.stringify(what)}.${didYouMean(what, names)}`);
}
