import { readOr } from "../../model/errors.ts";
import { withPauses } from "../../model/runtime/event-loop.ts";
import type { Reads } from "../../model/service.ts";
import { countList } from "../../text/counts.ts";
import type { AccountView, ReadNeeds } from "../kind.ts";
import { labelScopes } from "../select.ts";
import { type Config, compileConfig, makeRuleProgram } from "./compiled-config.ts";
import { tablesToRead } from "./coverage.ts";
import { readWithColumns } from "./read.ts";
import { newRuleCache, withLabels } from "./rules/rule-cache.ts";
import { ruleSetsIn } from "./rules/rule-sets.ts";
import { type Question, scan } from "./scan.ts";

/**
 * What an integration loses that the SchemaConfig no longer covers: "12 hashed columns and 1 disabled column are no longer kept so". Without
 * numbers if its schemas cannot be read.
 */
export async function lostBySelector(
  config: Config,
  id: string,
  { account, reads, needs }: { readonly account: AccountView; readonly reads: Reads; readonly needs: ReadNeeds },
): Promise<string> {
  const program = makeRuleProgram([compileConfig(config, ruleSetsIn(account.resources))]);
  const rules = withLabels(newRuleCache(program), () => labelScopes(account)?.(id));
  const read = readWithColumns(reads, id, (tree) => {
    const tables = tablesToRead(rules, tree, undefined);
    needs.claimColumns(id, tables.length);
    return tables;
  });
  const live = await readOr(
    () => read,
    () => undefined,
  );
  const lost = { hashed: 0, disabled: 0 };
  const count: Question = {
    column({ managed: { resolution } }) {
      if (resolution.hashed === true) lost.hashed++;
      if (resolution.enabled === false) lost.disabled++;
    },
  };
  await withPauses(scan(live?.tree ?? {}, [count], { rules }));
  const total = lost.hashed + lost.disabled;
  if (total === 0) return "its columns are no longer kept as the rules require";
  const names = countList([
    [lost.hashed, `hashed ${lost.hashed === 1 ? "column" : "columns"}`],
    [lost.disabled, `disabled ${lost.disabled === 1 ? "column" : "columns"}`],
  ]);
  return `${names} ${total === 1 ? "is" : "are"} no longer kept so`;
}
