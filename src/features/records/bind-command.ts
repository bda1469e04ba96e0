import type { Context } from "../../cli/context.ts";
import { loadOneProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { bindIds, type RecordsChange, unbindIds } from "./ids.ts";
import type { BindFlags } from "./index.ts";

/** `dimsync bind ADDRESS=ID…` records ids; `bind --accept ADDRESS…` records that the account was changed by hand to match. Sends no request. */
export async function runBind(context: Context<BindFlags>, texts: readonly string[]): Promise<ExitCode> {
  const project = await loadOneProject(context, { account: true });
  await bindIds(project, { texts, isAccepted: context.flags.accept === true }, changeOf(context));
  return 0;
}

/** `dimsync unbind ADDRESS…` removes recorded ids. Sends no request. */
export async function runUnbind(context: Context, addresses: readonly string[]): Promise<ExitCode> {
  await unbindIds(await loadOneProject(context, { account: true }), addresses, changeOf(context));
  return 0;
}

/** Prints on stderr what is recorded. */
export const changeOf = ({ io }: Context): RecordsChange => ({
  env: io.env,
  signal: io.interrupted,
  onRecorded: (text) => say(io, text),
});
