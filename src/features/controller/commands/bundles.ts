import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../../cli/output.ts";
import { say } from "../../../cli/say.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { jobUrl } from "../../../core/operations/open-records.ts";
import { textTable } from "../../../core/render/blocks.ts";
import { tableText } from "../../../core/render/terminal/blocks.ts";
import { jsonDocument } from "../../../core/text/control-characters.ts";
import { counted } from "../../../core/text/counts.ts";
import type { ControllerFlags } from "../index.ts";
import { shortDigest } from "../projects/bundle.ts";
import { rollBack } from "../projects/push-bundle.ts";
import { listPushes } from "../projects/replacement.ts";
import { requestChecks } from "../work/queue.ts";
import { currentUser, neededReason, withController } from "./place.ts";

const listed = 100;

/** `dimsync controller bundles`: what was pushed, by whom, newest first. */
export async function runBundles(context: Context<ControllerFlags>): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const bundles = await withController(context, (database) => listPushes(database, listed));
  await deliverForms(context, {
    human(options) {
      if (bundles.length === 0) return "Nothing was pushed yet.\n";
      const headings = ["", "digest", "source", "commit", "pushed (UTC)", "by", "reason"];
      const rows = bundles.map(({ isCurrent, digest, source, commit, dirty, at, by, reason, kind }) => [
        isCurrent ? "*" : "",
        shortDigest(digest).replace("sha256:", ""),
        source,
        `${commit?.slice(0, 12) ?? ""}${dirty ? "+" : ""}`,
        at.slice(0, 16).replace("T", " "),
        by,
        `${kind === "rollback" ? "rollback: " : ""}${reason ?? ""}`,
      ]);
      return `${tableText(textTable(headings, rows), options)}\n* is what the source wants now; + has uncommitted changes.\n`;
    },
    json: () => jsonDocument({ formatVersion: "1.0", kind: "ControllerBundles", bundles }),
  });
  return 0;
}

/** `dimsync controller rollback DIGEST --reason R`: makes a bundle that was pushed before the wanted one again. */
export async function runRollback(context: Context<ControllerFlags>, digest: string): Promise<ExitCode> {
  const { flags, io } = context;
  const example = `dimsync controller rollback ${digest} --reason "the new rules break the nightly report"`;
  const reason = neededReason(context, "controller rollback", example);
  const options = { by: currentUser(context), reason, runUrl: jobUrl(io.env), allowRemoval: flags.allowRemoval === true };
  const { digest: wanted, accounts } = await withController(context, async (database) => {
    const pushed = await rollBack(database, digest, options);
    await requestChecks(database, pushed.accounts);
    return pushed;
  });
  say(
    io,
    `${shortDigest(wanted)} is wanted again by ${counted(accounts.length, "account")}. Workers check ${accounts.length === 1 ? "it" : "them"} now.`,
  );
  return 0;
}
