import { type Manifest, problemIn, type SchemaConfigSpec, type TableTexts } from "../../base/model/manifest.ts";
import { addAll } from "../../base/model/maps.ts";
import type { Problem } from "../../base/model/problem.ts";
import { literalPointer, tableTexts, walk } from "../../base/model/schema-tree.ts";
import { requestMode, syncModes } from "../../base/model/sync-mode.ts";
import { nearest, suggestion } from "../../base/text/suggest.ts";
import type { PlacedRule } from "./rules/compile-rule.ts";

// Sync modes and cursors that cannot be sent: all of them if only documented requests are sent, and modes that no request takes.

export function ruleTextProblems({ rule: { match, set = {} }, owner, pointer }: PlacedRule, isDocumented: boolean): readonly Problem[] {
  const isOfTable = match.table !== undefined && match.column === undefined && match.label === undefined;
  const misplaced = isOfTable ? [] : tableTexts.filter((key) => set[key] !== undefined);
  if (misplaced.length === 0) return problemsOf(set, isDocumented, { owner, pointer: `${pointer}/set` });
  return misplaced.map((key) =>
    problemIn(owner, `${pointer}/set/${key}`, {
      code: "E_WRONG_VALUE",
      message: `\`${key}\` is for tables only. A rule applies to the deepest level that its match names: write \`table\`, and no \`column\` or \`label\`.`,
    }),
  );
}

export function literalTextProblems(owner: Manifest<SchemaConfigSpec>, isDocumented: boolean): readonly Problem[] {
  const found: Problem[] = [];
  walk(owner.spec.schemas ?? {}, {
    table(table, path) {
      addAll(found, problemsOf(table, isDocumented, { owner, pointer: literalPointer(path) }));
      return false;
    },
  });
  return found;
}

function problemsOf(
  set: TableTexts,
  isDocumented: boolean,
  { owner, pointer }: { readonly owner: Manifest; readonly pointer: string },
): readonly Problem[] {
  const { syncMode: mode } = set;
  if (isDocumented)
    return tableTexts
      .filter((key) => set[key] !== undefined)
      .map((key) => {
        const message = `The interface document has no request that changes \`${key}\`. If your service takes it in the PATCH of schemas, set service: { extended: true } for the target. Otherwise assert it under spec.expect, or change it in the service.`;
        return problemIn(owner, `${pointer}/${key}`, { code: "E_UNWRITABLE_FIELD", message });
      });
  if (mode === undefined || requestMode(mode) !== undefined) return [];
  const similar = nearest(mode, syncModes);
  const hint = similar === undefined ? "" : suggestion(mode, similar);
  const message = `${JSON.stringify(mode)} is not a sync mode.${hint} The modes are ${syncModes.join(", ")}. Which of them a table supports depends on its source.`;
  return [problemIn(owner, `${pointer}/syncMode`, { code: "E_WRONG_VALUE", message })];
}
