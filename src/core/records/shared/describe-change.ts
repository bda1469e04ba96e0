import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { type Fact, withFacts } from "../facts.ts";
import type { RecordsState } from "../records.ts";
import type { Facts } from "../remembered.ts";

/** One line per fact. `before`: the state before them, which has the addresses of the entries that they settle. */
export function describeFacts(facts: readonly Fact[], before: RecordsState): readonly string[] {
  const intents = facts.filter(({ type }) => type === "intend");
  const addresses = new Map(withFacts(before, intents).open.map(({ entryId, address }) => [entryId, address]));
  return facts.map((fact) => visible(lineOf(fact, addresses)));
}

/** A summary of the facts, for the first line. */
export function subjectOf(facts: readonly Fact[], other: string): string {
  const intents = facts.filter(({ type }) => type === "intend").length;
  if (intents > 0) return `Begin ${intents === 1 ? "1 create" : `${intents} creates`}`;
  const settled = facts.filter(({ type }) => type === "settle").length;
  if (settled > 0) return `Record ${settled === 1 ? "1 outcome" : `${settled} outcomes`}`;
  const bound = facts.filter(({ type }) => type === "bind" || type === "unbind").length;
  return bound > 0 ? `Change ${bound === 1 ? "1 binding" : `${bound} bindings`}` : other;
}

function lineOf(fact: Fact, addresses: ReadonlyMap<string, string>): string {
  switch (fact.type) {
    case "intend":
      return `create ${fact.intent.address} (${fact.entryId})`;
    case "settle": {
      const { outcome, id, by } = fact.settlement;
      const what = addresses.get(fact.entryId) ?? fact.entryId;
      return `${outcome} ${what}${id === undefined ? "" : ` as ${id}`}${by === undefined ? "" : ` by ${by}`}`;
    }
    case "bind":
      return `bind ${fact.address}=${fact.binding.id}`;
    case "unbind":
      return `unbind ${fact.address}`;
    case "applied":
      return `apply the saved plan ${fact.plan.planId}`;
    case "remember":
      return memoryText(fact.facts);
  }
}

/** "columns of 3 integrations, list lengths {"tags":3}" */
function memoryText({ lists, columns, commit, ...byAddress }: Facts): string {
  const integrations = new Set(columns?.groups.flatMap((group) => group.integrations)).size;
  const parts = [
    commit === undefined ? "" : `applied commit ${commit.commit}`,
    columns === undefined ? "" : `columns of ${counted(integrations, "integration")}`,
    lists === undefined ? "" : `list lengths ${JSON.stringify(lists)}`,
    ...Object.entries(byAddress).map(([name, values]) => `${name} of ${[...(values?.keys() ?? [])].join(", ")}`),
  ];
  return parts.filter((part) => part !== "").join(", ");
}
