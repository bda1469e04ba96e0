import { DimsyncError } from "../../model/errors.ts";
import type { AccountDetail, BundleDetail, RunDetail } from "../views/status.ts";
import type { PageReads } from "./reads.ts";
import { ProblemError } from "./reply.ts";

/** Rejects with a ProblemError if no account has the name, or several. */
export async function accountNamed(reads: PageReads, name: string): Promise<AccountDetail> {
  const account = await reads.account(name).catch((error: unknown) => {
    if (error instanceof DimsyncError && error.code === "E_USAGE")
      throw new ProblemError({ status: 409, title: "Name of several accounts", detail: error.message });
    throw error;
  });
  return (
    account ?? missing("Unknown account", `The controller has no account ${JSON.stringify(name)}. It may have been removed by a push.`)
  );
}

/** Rejects with a ProblemError if there is none. */
export const runNamed = async (reads: PageReads, id: string): Promise<RunDetail> =>
  (await reads.run(id)) ??
  missing("Unknown run", `The controller has no run ${JSON.stringify(id)}. Old runs are deleted; by default after 400 days.`);

/** By its digest, with or without "sha256:". Rejects with a ProblemError if there is none. */
export const bundleNamed = async (reads: PageReads, digest: string): Promise<BundleDetail> =>
  (await reads.bundle(digest)) ?? missing("Unknown bundle", `The controller has no bundle ${JSON.stringify(digest)}.`);

function missing(title: string, detail: string): never {
  throw new ProblemError({ status: 404, title, detail });
}
