import { byHandStep } from "../../base/model/draft-steps.ts";
import { readOr } from "../../base/model/errors.ts";
import { defined, sameJson } from "../../base/model/json/json.ts";
import { countKept, type KeptIntegration } from "../../base/model/kept.ts";
import type { LiveIntegration } from "../../base/model/live.ts";
import { stepsOf } from "../../base/model/plan.ts";
import type { Reads } from "../../base/model/service.ts";
import { counted } from "../../base/text/counts.ts";
import { enumerate } from "../../base/text/describe.ts";
import { andMore } from "../../base/text/lists.ts";
import { bindCommand, giveUpCommand } from "../../base/text/shell.ts";
import type { Account, DiffResult } from "../../kinds/index.ts";
import { emptyDiff, integrations, kindNames, readableElsewhere, readSchemas, schemasAddress } from "../../kinds/index.ts";
import { schemasAtBase } from "../origin.ts";
import { everything } from "../scope.ts";
import type { Check, CheckInput } from "./check.ts";

// What is kept of integrations that no unit stands for: they are gone, or no manifest selects them any more.

/** The columns of tables in which columns were kept, and one finding for each integration that no unit stands for, or the end of its obligation. Reads the schemas of one that was created in place of another. */
export const checkKept = ({ run: { reads, scope }, account, reviewed }: CheckInput): Check => ({
  columns: (id) => {
    const before = account.kept.get(id)?.schemas;
    return (
      before &&
      ((schema, table) =>
        before
          .get(schema)
          ?.get(table)
          ?.some(({ columns }) => columns !== undefined) === true)
    );
  },
  async end({ differences, objects }, { left }) {
    if (scope !== everything || !account.isComplete || account.unreadLists.has(integrations)) return {};
    const isBlocked = new Set(
      differences.flatMap((one) => [...stepsOf(one, "blocked"), ...stepsOf(one, "waits")].map(({ address }) => address)),
    );
    const orphans = [...account.kept].filter(
      ([id, { identity, schemas }]) =>
        schemas.size > 0 &&
        !objects.has(`${kindNames.schemaConfig} ${id}`) &&
        !left.has(id) &&
        // What cannot be compared says so itself.
        ![identity[0], id].some((name) => isBlocked.has(schemasAddress(name ?? ""))),
    );
    const base = reviewed && schemasAtBase(reviewed);
    const found = await Promise.all(orphans.map(([id, kept]) => ofOrphan(id, kept, { account: { ...account, base }, reads })));
    return { differences: found.flatMap((one) => one ?? []) };
  },
});

interface Input {
  readonly account: Account;
  readonly reads: Reads;
}

async function ofOrphan(id: string, kept: KeptIntegration, { account, reads }: Input): Promise<DiffResult | undefined> {
  const [before = id] = kept.identity;
  const live = account.list(integrations).byId.get(id);
  // The manifests at the base select it, and those of now do not.
  if (live !== undefined && account.base?.schemas(id) !== undefined) return ended(id, kept);
  const readableOf = (one: LiveIntegration): Promise<readonly string[] | undefined> =>
    readOr(
      async () => {
        const tree = await readSchemas(reads, one.id);
        return tree && readableElsewhere(kept, tree);
      },
      () => undefined,
    );
  if (live !== undefined) {
    const readable = await readableOf(live);
    return readable?.length === 0 ? undefined : finding(id, kept, { account, live, said: unselected(live, kept, readable) });
  }
  const twin = twinOf(kept, account);
  const nodes = counted(countKept(kept.schemas), "node");
  if (twin === undefined)
    return finding(id, kept, {
      account,
      said: `The integration ${before} (${id}) is in no list of the service any more, and ${nodes} of it ${countKept(kept.schemas) === 1 ? "was" : "were"} kept hashed or disabled. It is gone, or the key cannot read it. If it is gone, give it up:`,
    });
  const readable = await readableOf(twin);
  if (readable?.length === 0) return ended(id, kept);
  const [bound] = [...account.bindings].find(([, binding]) => binding.id === id) ?? [];
  const there =
    readable === undefined
      ? `Its schemas cannot be read, and ${nodes} were kept hashed or disabled`
      : `Of ${nodes} that ${countKept(kept.schemas) === 1 ? "was" : "were"} kept hashed or disabled, ${andMore(readable, "node", { shown: 5 })} ${readable.length === 1 ? "is" : "are"} readable there, or may have replaced ${readable.length === 1 ? "one" : "some"}`;
  const way = bound === undefined ? "Have a SchemaConfig keep them there, or give it up:" : "If it is the same, bind it:";
  return finding(id, kept, {
    account,
    twin,
    said: `The integration ${before} (${id}) is gone, and ${twin.name} (${twin.id}) has the same source and destination. ${there}. ${way}`,
    ...(bound === undefined ? {} : { command: bindCommand(bound, twin.id) }),
  });
}

function unselected({ id, name }: LiveIntegration, kept: KeptIntegration, readable: readonly string[] | undefined): string {
  const by = new Set([...kept.schemas.values()].flatMap((tables) => [...tables.values()].flatMap((all) => all.map((nodes) => nodes.by))));
  const count = countKept(kept.schemas);
  const there =
    readable === undefined
      ? "its schemas cannot be read"
      : `${andMore(readable, "node", { shown: 5 })} ${readable.length === 1 ? "is" : "are"} readable now`;
  return `No manifest selects the integration ${name} (${id}) any more. ${enumerate([...by], "and")} kept ${counted(count, "node")} of it hashed or disabled, and ${there}. Select it again, or give it up:`;
}

interface Said {
  readonly account: Account;
  readonly said: string;
  readonly command?: string;
  readonly live?: LiveIntegration;
  readonly twin?: LiveIntegration;
}

function finding(id: string, { identity: [before] }: KeptIntegration, { account, said, command, live, twin }: Said): DiffResult {
  const isTaken =
    before === undefined ||
    account
      .list(integrations)
      .byName.get(before)
      ?.some((other) => other.id !== id) === true;
  const address = schemasAddress(isTaken ? id : before);
  const step = { address, path: "/id", expected: id, ...defined({ actual: twin?.id }), obligation: true, origin: "drift" } as const;
  return {
    ...emptyDiff,
    steps: [byHandStep({ ...step, ...defined({ liveName: live?.name }), instruction: said, command: command ?? giveUpCommand(address) })],
  };
}

const ended = (id: string, kept: KeptIntegration): DiffResult => ({ ...emptyDiff, kept: { ...kept, id, schemas: new Map() } });

/** The integration that was created in its place: one that nothing is known of, if there is one. */
function twinOf({ identity: [, ...of] }: KeptIntegration, { list, kept }: Account): LiveIntegration | undefined {
  const alike = list(integrations).items.filter(({ source, destination }) => sameJson([source?.name, source?.type, destination?.id], of));
  return alike.find((other) => !kept.has(other.id)) ?? alike[0];
}
