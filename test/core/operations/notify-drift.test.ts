// A report is notified once, and again only after a change or a failure.
import { expect, test } from "vitest";
import type { SecretReference } from "../../../src/core/base/model/settings/secret.ts";
import { notifyDrift } from "../../../src/core/operations/notify-drift.ts";
import { filesIn } from "../../support/project-folder.ts";
import { env, type Story, story } from "../drift/account.ts";
import { startReceiver } from "../drift/receiver.ts";

const manifest =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec:\n  match: { name: Orders }\n  expect: { paused: false }\n";

const pause = ({ service }: Story, paused: boolean): void =>
  service.mutate((state) => {
    for (const one of state.integrations) if (one.id === "8f1c") one.paused = paused;
  });

const url: SecretReference = { $secret: { env: "HOOK" } };

/** Makes a report of the account as it is now, and returns the warnings. `hook`: the URL of the webhook, in the variable HOOK. */
async function notified(reported: Story, hook?: string): Promise<string> {
  const warnings: string[] = [];
  await notifyDrift(
    await reported.load(),
    await reported.report(),
    { webhook: { url }, warn: (text) => warnings.push(text) },
    { env: { ...env(reported.service), ...(hook === undefined ? {} : { HOOK: hook }) }, signal: new AbortController().signal },
  );
  return warnings.join("\n");
}

test("notified once, again after a failure and after a change, and the URL stays secret", async () => {
  const reported = await story({ "a.yaml": manifest });
  const hook = await startReceiver();
  const printed: string[] = [];
  const received = async (): Promise<readonly [number, string]> => {
    const warnings = await notified(reported, hook.url);
    printed.push(warnings);
    return [hook.received.length, warnings];
  };
  expect(await received()).toEqual([0, ""]);
  pause(reported, true);
  hook.status = 500;
  expect(await received()).toEqual([1, expect.stringContaining("status 500")]);
  hook.status = 200;
  expect(await received()).toEqual([2, ""]);
  expect(await received()).toEqual([2, ""]);
  pause(reported, false);
  expect(await received()).toEqual([3, ""]);
  expect(await received()).toEqual([3, ""]);
  expect(printed.join("")).not.toContain("canary");
  for (const [path, text] of filesIn(reported.folder)) expect(text, path).not.toContain("canary");
});

test("an unset variable is a warning", async () => {
  const reported = await story({ "a.yaml": manifest });
  pause(reported, true);
  expect(await notified(reported)).toContain("HOOK is not set");
});
