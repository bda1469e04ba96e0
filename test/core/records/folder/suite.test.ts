// Records in a folder keep what every store must keep.
import { join } from "node:path";
import { openFolderRecords } from "../../../../src/core/records/folder/index.ts";
import { tempFolder } from "../child.ts";
import { recordsSuite } from "../suite.ts";

recordsSuite("folder", async () => {
  const folder = await tempFolder();
  return { open: async () => openFolderRecords({ folder, target: "prod", bindingsFile: join(folder, "dimsync.bindings.yaml") }) };
});
