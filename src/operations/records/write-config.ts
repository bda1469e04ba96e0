import { readFile } from "node:fs/promises";
import { DimsyncError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import { editYaml } from "../../yaml/edit/edit.ts";

/** Writes `records` of the target into dimsync.yaml; comments and order stay. Throws E_CONFIG_EDIT (exit 1) if the file cannot be edited. */
export const writeRecordsConfig = (configFile: string, target: string, records: JsonObject | undefined): Promise<void> =>
  editConfig(
    configFile,
    records === undefined
      ? { type: "members", path: ["targets", target], removed: new Set(["records"]), added: new Map(), before: new Map() }
      : { type: "set", path: ["targets", target, "records"], value: records as never },
  );

/** Like `writeRecordsConfig`, for the id of the store that dimsync.yaml names already. */
export const writeRecordsId = (
  configFile: string,
  target: string,
  { store, id }: { readonly store: string; readonly id: string },
): Promise<void> => editConfig(configFile, { type: "set", path: ["targets", target, "records", store, "id"], value: id });

async function editConfig(configFile: string, edit: Parameters<typeof editYaml>[2][number]): Promise<void> {
  const text = await readFile(configFile, "utf8");
  const edited = editYaml(text, 0, [edit]);
  if (edited.refused.length > 0)
    throw new DimsyncError(
      "E_CONFIG_EDIT",
      `${configFile} could not be edited: ${edited.refused[0]?.why ?? "unknown reason"}. The store exists; add its settings to the target yourself.`,
    );
  await writeAtomic(configFile, edited.text);
}
