import { expect, test } from "vitest";
import type { Difference } from "../../../src/core/accept/plan-edits.ts";
import { pullRequestBody } from "../../../src/features/ci/pull-requests.ts";
import { plan } from "../../core/render/plans.ts";

const attribution = { actor: "dana@example.com", at: "2026-03-03T07:55:00Z", confidence: "exact" as const, event: "x", own: false };
const difference = (column: string, more: Partial<Difference> = {}): Difference => ({
  address: "Schemas/orders",
  path: `/schemas/public/tables/users/columns/${column}/hashed`,
  ...{ desired: true, live: false, origin: "drift", attribution },
  ...more,
});
const acceptedIn = (accepted: readonly Difference[]) => {
  const body = pullRequestBody({
    report: plan({ kind: "DriftReport" }),
    ...{ accepted, columns: [], leftOut: [], shared: [], owners: [], footer: "Written by dimsync." },
  });
  return /### Accepted in the manifests \(\d+\)\n\n((?:- .*\n)*)/u.exec(body)?.[1]?.trimEnd().split("\n");
};
const unattributed: Difference = { address: "Schemas/orders", path: "/schemas/`x`\n- y/enabled", live: false, origin: "drift" };
const who = "drift; dana&#64;&#8203;example.com, 2026-03-03 07:55 UTC";
const columns = (count: number) => Array.from({ length: count }, (_, index) => difference(`c${index}`));

test("fewer than 30 differences are listed one by one, with values, who made them and when", () => {
  const lines = acceptedIn([...columns(28), unattributed]);
  expect(lines).toHaveLength(29);
  expect(lines?.[0]).toBe(`- \`Schemas/orders\` \`public.users.c0 hashed\`: \`true\` → \`false\`; ${who}`);
  expect(lines?.[28]).toMatch(/^- `Schemas\/orders` <code>.*<\/code>: \(not set\) → `false`; drift$/u);
});

test("more are grouped by object, value and user", () => {
  const other = difference("z", { attribution: { ...attribution, actor: "lee@example.com" } });
  expect(acceptedIn([...columns(30), other])).toEqual([
    `- \`Schemas/orders\` \`hashed\` of 30 nodes (\`public.users.c0\`, \`public.users.c1\`, \`public.users.c2\` and 27 more nodes): \`true\` → \`false\`; ${who}`,
    expect.stringContaining("`public.users.z hashed`: `true` → `false`; drift; lee"),
  ]);
});
