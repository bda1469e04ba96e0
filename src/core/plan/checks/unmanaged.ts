import { byText } from "../../base/model/address.ts";
import type { NamedObject } from "../../base/model/plan.ts";
import { kinds } from "../../kinds/index.ts";
import type { Check, CheckInput } from "./check.ts";

/** Live objects that no manifest stands for, by list. */
export const checkUnmanaged = ({ run, account }: CheckInput): Check => ({
  end({ liveIds, differences }) {
    const identified = [...account.identities.values()].flatMap((identity) =>
      identity.state === "found" || identity.state === "blocked" ? (identity.id ?? []) : [],
    );
    const managed = new Set([...liveIds, ...identified]);
    const lists = kinds.flatMap((kind) => kind.list ?? []);
    const objects = lists.map((list) => [list.name, namesOf(account.list(list).items, managed)] as const);
    const tables = run.options.listUnmanaged === true ? differences.flatMap(({ unmanagedTables = [] }) => unmanagedTables) : undefined;
    return { unmanaged: { ...Object.fromEntries(objects), ...(tables === undefined ? {} : { tables }) } };
  },
});

/** By name, without the managed ones. */
function namesOf(live: readonly NamedObject[], managed: ReadonlySet<string>): readonly NamedObject[] {
  return live
    .filter(({ id }) => !managed.has(id))
    .map(({ id, name }) => ({ id, name }))
    .sort((a, b) => byText(a.name, b.name) || byText(a.id, b.id));
}
