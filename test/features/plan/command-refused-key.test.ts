// A refused key is said once, and nothing is claimed about the account.
import { expect, test } from "vitest";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { quickstart } from "../../cli/built-cli.ts";
import { runCommand } from "../../support/command.ts";

test.each(["plan", "apply", "drift"])(
  "%s with a key that is refused says so once, and does not claim that nothing changes",
  async (name) => {
    const service = await startEmbeddedService({ apiKeys: { right: "bot@example.com" } });
    try {
      const env = { DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: "wrong-key-1" };
      const { code, stdout } = await runCommand([name, ...(name === "apply" ? ["--yes"] : [])], quickstart(), env);
      const count = (text: string) => stdout.split(text).length - 1;
      expect([code, count("refused the API key"), count("Not compared, because a read that it needs failed.")]).toEqual([1, 1, 1]);
      expect(stdout).not.toMatch(/no changes|no differences/iu);
    } finally {
      await service.close();
    }
  },
);
