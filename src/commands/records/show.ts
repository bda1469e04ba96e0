import type { Context } from "../../cli/context.ts";
import type { RecordsFlags } from "../../cli/flags.ts";
import { deliverForms } from "../../cli/output.ts";
import { byText } from "../../model/address.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Lease, Records } from "../../records/records.ts";
import { describeLease } from "../../records/store-errors.ts";
import { historySections, recordsSections } from "../../render/report/records.ts";
import { sectionsText } from "../../render/terminal/blocks.ts";
import { jsonDocument } from "../../text/control-characters.ts";

/** `dimsync records show`: who holds the lease, creates with an unknown outcome, and ids. */
export async function showRecords(context: Context<RecordsFlags>, records: Records, target: string): Promise<ExitCode> {
  const [state, lease] = [await records.read(), await records.lease()];
  const shown = {
    kind: "Records" as const,
    target,
    store: records.store,
    place: records.place,
    version: state.version,
    ...(lease === undefined ? {} : { lease: withoutProcess(lease) }),
    open: state.open.map(({ entryId, address, runId, at, answeredId }) => ({
      entryId,
      address,
      runId,
      at,
      ...(answeredId === undefined ? {} : { answeredId }),
    })),
    bindings: [...state.bindings].map(([address, { id }]) => ({ address, id })).sort((a, b) => byText(a.address, b.address)),
  };
  await deliverForms(context, {
    human: (options) => {
      const holder = lease === undefined ? undefined : [describeLease(lease), lease.reason].filter((part) => part !== undefined).join(": ");
      return sectionsText(recordsSections({ ...shown, holder }), options);
    },
    json: () => jsonDocument(shown),
  });
  return 0;
}

const withoutProcess = ({ process: _, ...lease }: Lease): Omit<Lease, "process"> => lease;

const historyLimit = 100;

/** `dimsync records show --log`: the newest writes, newest first. */
export async function showHistory(context: Context<RecordsFlags>, records: Records, target: string): Promise<ExitCode> {
  const entries = await records.history(historyLimit);
  const { store, place } = records;
  await deliverForms(context, {
    human: (options) => sectionsText(historySections({ target, store, place, entries }), options),
    json: () => jsonDocument({ kind: "RecordsHistory", target, store, place, entries }),
  });
  return 0;
}
