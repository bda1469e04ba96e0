import type { RunReads } from "../../engine/cached-reads.ts";
import { ignoring } from "../../engine/ignore.ts";
import { observeAccount } from "../../engine/observe.ts";
import type { AccountView } from "../../kinds/kind.ts";
import type { Project } from "../../manifests/project.ts";
import { readListLengths } from "../../records/list-lengths.ts";
import { systemClock } from "./account.ts";

/** What the project's manifests mean in the account, with every list read whatever the manifests need. Throws ServiceError. */
export async function readWorld(
  { resources, settings }: Project,
  bindings: AccountView["bindings"],
  reads: RunReads,
): Promise<{ readonly world: AccountView; readonly suspicions: readonly string[] }> {
  const [integrations, tags, users] = await Promise.all([reads.integrations(), reads.tags(), reads.users()]);
  const today = systemClock.now().toISOString().slice(0, 10);
  const { world, suspicions } = await observeAccount({
    resources,
    compared: resources,
    bindings,
    recovered: new Map(),
    fresh: new Set(),
    reads,
    taggedBy: settings.defaults.taggedBy,
    writeSecrets: () => false,
    ignored: ignoring(settings.ignore, today).ignored,
    longestSeen: await readListLengths(settings.folder, settings.target),
    alsoNeeded: ["integrations", "tags", "users"],
  });
  const whole = {
    ...world,
    integrations: joined(world.integrations, integrations.items),
    tags: joined(world.tags, tags.items),
    users: users.items,
  };
  return { world: whole, suspicions };
}

/** The list, and what only a read by id has shown. */
function joined<T extends { readonly id: string }>(known: readonly T[], listed: readonly T[]): readonly T[] {
  return [...listed, ...known.filter(({ id }) => !listed.some((one) => one.id === id))];
}
