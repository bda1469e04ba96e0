import { expect, test } from "vitest";
import { resolveSecrets } from "../../../../src/core/manifests/secrets/resolve.ts";
import { writeProject } from "../../../support/project-folder.ts";

test("a command that does not end is killed, even if it ignores signals and its children keep the output open", async () => {
  const script =
    "process.on('SIGTERM', () => {}); require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 5000)'], { stdio: 'inherit' }); setInterval(() => {}, 1000)";
  const exec = [process.execPath, "-e", script];
  const { problems } = await resolveSecrets([{ $secret: { exec } }], {
    folder: writeProject({}),
    env: { DIMSYNC_ALLOW_CODE: "1" },
    timeoutMs: 500,
  });
  expect(problems).toMatchObject([{ code: "E_SECRET_COMMAND", message: expect.stringContaining("within 0.5 s") }]);
});
