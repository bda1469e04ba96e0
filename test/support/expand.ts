import { defined, emptyRecord } from "../../src/core/base/model/json/json.ts";
import type { LiveSchemas } from "../../src/core/base/model/live.ts";
import type { SchemaTree } from "../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../src/core/base/model/nodes.ts";
import { setFields, type WritableNode } from "../../src/core/base/model/schema-tree.ts";
import { textsOf } from "../../src/core/kinds/schema-config/rules/resolve-rules.ts";
import type { RuleCache } from "../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { managedEnabled, type Question, type ScannedNode, scan } from "../../src/core/kinds/schema-config/scan.ts";

/** What the SchemaConfigs of an integration manage, as one literal tree: rules and `unmatched` are resolved over the live names. */
export function expand(rules: RuleCache, live: LiveSchemas): SchemaTree {
  const schemas = emptyRecord<WritableNode>();
  const add = ({ path, managed }: Pick<ScannedNode<unknown, NodePath>, "path" | "managed">): undefined =>
    void setFields(
      schemas,
      path,
      defined({ enabled: managedEnabled(managed), hashed: managed.resolution.hashed, ...textsOf(managed.resolution) }),
    );
  const question: Question = { schema: add, table: add, column: add };
  scan(live, [question], { rules, order: "by-name" });
  return schemas;
}
