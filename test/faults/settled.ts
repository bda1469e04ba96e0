import type { Plan, Result } from "../../src/core/base/model/plan.ts";
import { shellWord } from "../../src/core/base/text/shell.ts";
import type { AccountState, EmbeddedService } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { blockedSteps, byHandSteps, outcomes, readySteps, waitingSteps } from "../support/steps.ts";
import { canaries, type MixedProject } from "./mixed-project.ts";

/** The end state of an account after a fault. */
export interface Settled {
  readonly runs: number;
  /** Addresses whose outcome was unknown until it was resolved. */
  readonly resolved: readonly string[];
  /** The problems; empty if there are none. */
  readonly wrong: readonly string[];
}

const mostRuns = 6;

/**
 * Runs apply until plan is empty. If an outcome is unknown, follows the instructions of the
 * message: looks for the object and runs resolve. Then compares the account with the manifests.
 */
export async function settleAccount(service: EmbeddedService, project: MixedProject): Promise<Settled> {
  const resolved: string[] = [];
  const wrong: string[] = [];
  for (let runs = 1; runs <= mostRuns; runs++) {
    const result = await project.apply();
    wrong.push(...unexplained(result));
    const plan = await project.plan();
    const unknown = blockedSteps(plan).filter(({ code }) => code === "E_UNKNOWN_OUTCOME");
    for (const { address, command } of unknown) {
      if (command?.startsWith(`dimsync resolve ${shellWord(address)} `) !== true) wrong.push(`plan offers no resolve for ${address}`);
      await resolve(service.state(), project, address);
      resolved.push(address);
    }
    if (unknown.length === 0 && isQuiet(plan)) return { runs, resolved, wrong: [...wrong, ...differences(service.state())] };
  }
  return { runs: mostRuns, resolved, wrong: [...wrong, "it did not converge"] };
}

const isQuiet = (plan: Plan): boolean =>
  plan.complete && readySteps(plan).length + waitingSteps(plan).length + blockedSteps(plan).length + byHandSteps(plan).length === 0;

/** The message must say that the outcome is unknown, and how to resolve it. */
export function unexplained(result: Result): readonly string[] {
  return outcomes(result).flatMap(({ address, outcome, code, command }) => {
    if (outcome !== "unknown") return [];
    const wrong = [];
    if (code !== "E_UNKNOWN_OUTCOME") wrong.push(`${address} is unknown with code ${code}`);
    if (command !== `dimsync resolve ${shellWord(address)} --created=ID`)
      wrong.push(`${address} is unknown and does not say how to resolve it`);
    if (result.exit.code !== 4 && result.exit.code !== 1 && result.exit.code !== 130)
      wrong.push(`exit ${result.exit.code} with an unknown outcome`);
    return wrong;
  });
}

async function resolve(state: AccountState, project: MixedProject, address: string): Promise<void> {
  const id = liveIdOf(state, address);
  const argv = ["resolve", address, ...(id === undefined ? ["--not-created"] : [`--created=${id}`])];
  const ran = await runCommand(argv, project.folder, project.env);
  if (ran.code !== 0) throw new Error(`resolve ${address} ended with ${ran.code}: ${ran.stderr}`);
}

/** The result of looking for the object in the service. */
function liveIdOf(state: AccountState, address: string): string | undefined {
  if (address === "Asset/archive") return state.assets.find(({ name }) => name === "Archive lake")?.id;
  if (address === "Integration/returns") return state.integrations.find(({ source }) => source.name === "returns-pg")?.id;
  const [tag, resourceId] = address.split("#");
  const live = state.tags.find(({ name }) => name === (tag === "Tag/audit" ? "Audit" : "Gold"));
  return resourceId === undefined ? live?.id : live?.relations.find((relation) => relation.resourceId === resourceId)?.resourceId;
}

/** Differences between the account and the manifests of the mixed project, and duplicates. */
export function differences(state: AccountState): readonly string[] {
  const wrong: string[] = [];
  const check = (what: string, holds: boolean): void => {
    if (!holds) wrong.push(what);
  };
  const archives = state.assets.filter(({ name }) => name === "Archive lake");
  const returns = state.integrations.filter(({ source }) => source.name === "returns-pg");
  check(`${archives.length} assets are named Archive lake`, archives.length === 1);
  check(`${returns.length} integrations are named returns-pg`, returns.length === 1);
  check("Finance is still on Billing", state.tags.find(({ name }) => name === "Finance")?.relations.length === 0);
  const audits = state.tags.filter(({ name }) => name === "Audit");
  check(`${audits.length} tags are named Audit`, audits.length === 1);
  check("Audit is not on orders", audits[0]?.relations.map(({ resourceId }) => resourceId).join() === "8f1c");
  check("the archive does not have the declared secret", archives[0]?.connection["secret_key"] === canaries.ARCHIVE_SECRET);
  check("the lake has another secret", state.assets.find(({ id }) => id === "d-13")?.connection["secret_key"] === canaries.LAKE_SECRET);
  check("the destination of returns is not the archive", returns[0]?.destination.id === archives[0]?.id);
  const column = (id: string | undefined, table: string, name: string): boolean | undefined =>
    state.integrations.find((one) => one.id === id)?.schemas["public"]?.tables[table]?.columns[name]?.hashed;
  check("orders: email is not hashed", column("8f1c", "customers", "email") === true);
  check("orders: iban is hashed", column("8f1c", "payments", "iban") === false);
  check("returns: email is not hashed", column(returns[0]?.id, "customers", "email") === true);
  check("returns: orders is disabled", returns[0]?.schemas["public"]?.tables["orders"]?.enabled === true);
  const gold = state.tags.find(({ name }) => name === "Gold");
  check("the tag has another description", gold?.description === "The best there is");
  const related = (gold?.relations ?? []).map(({ resourceId }) => resourceId).sort();
  check(
    `the tag is on ${related.join(", ")}`,
    related.join() === ["8f1c", "m-1", archives[0]?.id ?? "", returns[0]?.id ?? ""].sort().join(),
  );
  return wrong;
}
