import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SecretReference } from "../../../src/model/settings/secret.ts";
import { recordReport } from "../../../src/operations/core/record-report.ts";
import { env, type Story, story } from "../../drift/account.ts";
import { startReceiver } from "../../drift/receiver.ts";
import { filesIn } from "../../support/project-folder.ts";

const manifest =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec:\n  match: { name: Orders }\n  expect: { paused: false }\n";

const pause = ({ service }: Story, paused: boolean): void =>
  service.mutate((state) => {
    for (const one of state.integrations) if (one.id === "8f1c") one.paused = paused;
  });

const hookReference: SecretReference = { $secret: { env: "HOOK" } };

interface Recorded {
  /** The name of a folder of the project. */
  readonly history?: string | undefined;
  /** The URL of the webhook, in the variable HOOK. */
  readonly hook?: string;
  readonly isNotified?: boolean;
}

/** Makes a report of the account as it is now, and records it. */
async function record(reported: Story, { history, hook, isNotified = hook !== undefined }: Recorded) {
  const warnings: string[] = [];
  const shown = await recordReport(
    await reported.load(),
    await reported.report(),
    {
      historyFolder: history === undefined ? undefined : join(reported.folder, history),
      webhook: isNotified ? { url: hookReference } : undefined,
      covers: () => true,
      warn: (text) => warnings.push(text),
    },
    { env: { ...env(reported.service), ...(hook === undefined ? {} : { HOOK: hook }) }, signal: new AbortController().signal },
  );
  return { shown, warnings: warnings.join("\n") };
}

test.each([
  ["with a history", "history"],
  ["without a history", undefined],
])("%s: notified once, again after a failure and after a change, and the URL stays secret", async (_, history) => {
  const reported = await story({ "a.yaml": manifest });
  const hook = await startReceiver();
  const printed: string[] = [];
  const recorded = async () => {
    const { shown, warnings } = await record(reported, { history, hook: hook.url });
    printed.push(warnings);
    return { shown, received: hook.received.length, warnings };
  };
  expect(await recorded()).toMatchObject({ received: 0, warnings: "" });
  pause(reported, true);
  hook.status = 500;
  expect(await recorded()).toMatchObject({ received: 1, warnings: expect.stringContaining("status 500") });
  hook.status = 200;
  expect(await recorded()).toMatchObject({ received: 2, warnings: "" });
  expect(await recorded()).toMatchObject({ received: 2, warnings: "" });
  pause(reported, false);
  const { shown, received } = await recorded();
  expect(received).toBe(3);
  expect((await recorded()).received).toBe(3);
  if (history === undefined) expect(shown).toBeUndefined();
  else {
    expect(shown?.points.map(({ manual }) => manual)).toEqual([0, 1, 1, 1, 0]);
    expect(shown?.done).toEqual([expect.objectContaining({ address: "Integration/orders", path: "/paused" })]);
  }
  expect(printed.join("")).not.toContain("canary");
  for (const [path, text] of filesIn(reported.folder)) expect(text, path).not.toContain("canary");
});

test("an unset variable is a warning", async () => {
  const reported = await story({ "a.yaml": manifest });
  pause(reported, true);
  const { shown, warnings } = await record(reported, { isNotified: true });
  expect(shown).toBeUndefined();
  expect(warnings).toContain("HOOK is not set");
});

test("without a history and a webhook, no file is written", async () => {
  const reported = await story({ "a.yaml": manifest });
  pause(reported, true);
  const before = readdirSync(reported.folder);
  await record(reported, {});
  expect(readdirSync(reported.folder)).toEqual(before);
});

test("a history that cannot be written is a warning", async () => {
  const reported = await story({ "a.yaml": manifest });
  const { warnings } = await record(reported, { history: "dimsync.yaml" });
  expect(warnings).toMatch(/could not be read \(ENOTDIR\)[\s\S]*could not be added/u);
});
