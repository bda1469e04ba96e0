// Records in git keep what every store must keep.
import { recordsSuite } from "../suite.ts";
import { diskStore } from "./git-store.ts";

recordsSuite("git", async () => {
  const { open } = await diskStore();
  return { open: async () => open() };
});
