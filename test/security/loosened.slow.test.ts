import { beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { dayIn } from "../support/clock.ts";
import { type JobEvent, startReviewedRepository } from "./pull-request.ts";

// What a pull request gives up is in its comment, first, whether or not anything is sent for it.

const key = "canary-key-83";
let service: EmbeddedService;
beforeAll(async () => {
  service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  return () => service.close();
});

const config = (more = "guards: { maxExposedColumns: 2 }\n"): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
${more}targets:
  prod: { baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }
`;
const rules = (hashed: boolean): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: { id: 8f1c }
  rules:
    - { id: pii, match: { column: "*email*" }, set: { hashed: ${hashed} } }
`;
const policy = (more = "", severity = "error"): string => `apiVersion: dimsync/v1
kind: Policy
metadata: { name: pii-hashed }
spec:
  severity: ${severity}
  when: { column: { name: ["*email*"], enabled: true } }
  require: { hashed: true }
  message: personal data would be readable
${more}`;
const exempt = `  exemptions: [{ integration: Orders, reason: DPIA-41, approvedBy: privacy@example.com, expires: ${dayIn(200)} }]\n`;

const start = () =>
  startReviewedRepository(key, {
    "dimsync.yaml": config(),
    ".github/CODEOWNERS": "/manifests/policy.yaml @example/privacy\n",
    "manifests/orders.yaml": rules(true),
    "manifests/policy.yaml": policy(),
  });

type Files = Readonly<Record<string, string>>;

/** The comment of a pull request with these changes, of files and of those that it removes. */
async function commentOn(changes: () => Files, event: JobEvent = {}) {
  const { commit, plan, comment } = await start();
  commit("feature", changes());
  const { code, output } = await plan("feature", event);
  return { code, output, comment: comment() };
}

const empty = "# nothing\n";

describe("the comment begins with what the pull request gives up", () => {
  test.each<[string, () => Files, readonly string[]]>([
    ["a policy that is gone", () => ({ "manifests/policy.yaml": empty }), ["`Policy/pii-hashed` `policy-removed`", "example/privacy."]],
    [
      "a policy that only warns, while the rule exposes",
      () => ({ "manifests/policy.yaml": policy("", "warning"), "manifests/orders.yaml": rules(false) }),
      [
        "`Policy/pii-hashed` `policy-weakened`",
        "Severity error at the base, warning now.",
        "The policy at the base would find 3 violations after apply.",
      ],
    ],
    [
      "an exemption of its own",
      () => ({ "manifests/policy.yaml": policy(exempt), "manifests/orders.yaml": rules(false) }),
      ["exemption-added", "It covers 3 findings now.", "was written by the author of this pull request."],
    ],
    [
      "a guard that is raised",
      () => ({ "dimsync.yaml": config("guards: { maxExposedColumns: 1000 }\n"), "manifests/orders.yaml": rules(false) }),
      ["guard-raised", "2 at the base, 1000 now."],
    ],
    [
      "entries that lift guards",
      () => ({ "dimsync.yaml": config(`guards: { maxExposedColumns: 2 }\nallow: [{ guard: policy, reason: x, until: ${soon} }]\n`) }),
      ["allow-added"],
    ],
    [
      "everything that is ignored",
      () => ({ "dimsync.yaml": config('guards: { maxExposedColumns: 2 }\nignore: [{ address: "*", path: "/**", reason: tidy }]\n') }),
      ["ignore-added", "protection-lost", "4 columns are not kept hashed by it any more."],
    ],
    [
      "all manifests that are deleted",
      () => ({ "manifests/orders.yaml": empty, "manifests/policy.yaml": empty }),
      ["policy-removed", "protection-lost", "released"],
    ],
  ])("%s", async (_, changes, found) => {
    const { comment, output } = await commentOn(changes);
    expect(comment, output).toMatch(/## Plan for `prod`[^\n]*\n\n(?:\*\*[^\n]*\n\n)?### This pull request also loosens/u);
    for (const text of found) expect(comment).toContain(text);
    expect(comment).not.toContain("no changes");
  });
});

const soon = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
