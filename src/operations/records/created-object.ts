import { kindNamed } from "../../kinds/index.ts";
import { isRelation } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Reads } from "../../model/service.ts";
import type { Settings } from "../../model/settings/config.ts";
import type { OpenIntent } from "../../records/history.ts";
import { openReads } from "../open-reads.ts";
import type { RunEnvironment } from "../session.ts";

/**
 * Checks that the account has what a create is said to have made. Returns why that could not be
 * checked, or undefined. The API cannot read assets, so they are not checked. Throws E_NOT_FOUND.
 */
export async function checkCreatedObject(
  { address, kind: kindName, naturalKey }: OpenIntent,
  id: string,
  { settings, run }: { readonly settings: Settings; readonly run: RunEnvironment },
): Promise<string | undefined> {
  const kind = kindNamed(kindName);
  const list = kind?.list;
  if (list === undefined) return undefined;
  const look = async (reads: Reads): Promise<boolean> => {
    if (!isRelation(address)) return (await reads.one(list, id)) !== undefined;
    const found = naturalKey === undefined ? [] : await kind?.find?.(naturalKey, reads);
    return found !== undefined && found !== "gone" && found.length > 0;
  };
  let exists: boolean;
  try {
    const { reads, close } = await openReads({ settings }, run);
    exists = await look(reads).finally(close);
  } catch (error) {
    if (!(error instanceof DimsyncError) || run.signal.aborted) throw error;
    return `The account could not be read, so it was not checked that ${address} exists: ${error.message}`;
  }
  if (exists) return undefined;
  const missing = isRelation(address)
    ? `The tag is not attached to the resource of ${address}.`
    : `The account has no ${kindName.toLowerCase()} with the id ${JSON.stringify(id)}.`;
  throw new DimsyncError(
    "E_NOT_FOUND",
    `${missing} Correct the id; if ${address} was not created, use --not-created. Nothing was recorded.`,
    isRelation(address) ? {} : { command: `dimsync get ${kindName.toLowerCase()}s` },
  );
}
