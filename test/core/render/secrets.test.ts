// A secret is shown as its source, in every format.
import { expect, test } from "vitest";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { type Format, renderers } from "../../../src/core/render/index.ts";
import { stepsFrom } from "../../support/steps.ts";
import { change, item, plan } from "./plans.ts";

const withValue = (path: string, after: never) =>
  plan({
    items: [item({ changes: [change({ path, after })] })],
    steps: stepsFrom({ waiting: [{ verb: "create", address: "A/a", waitsFor: [], desired: { secret_value: after } }] }),
  });

const references: readonly (readonly [reference: object, shown: string])[] = [
  [{ $secret: { env: "DB_PASSWORD" } }, "(secret env:DB_PASSWORD)"],
  [{ $secret: { file: "/run/secrets/key.p8" } }, "(secret file:/run/secrets/key.p8)"],
];

test.each(references)("%j is shown as its source", (reference, shown) => {
  for (const format of ["human", "markdown"] as const) {
    for (const path of ["/connection/password", "/connection"]) {
      const value = path === "/connection" ? { password: reference, port: 1 } : reference;
      // A reference is JSON; `never` avoids a type for each form.
      const text = renderers[format](withValue(path, value as never), { color: false, verbose: true });
      expect(text.replaceAll("&#58;", ":").replaceAll("&#95;", "_")).toContain(shown);
      expect(text).not.toContain("$secret");
    }
  }
});

test("the source of a secret is not cut, however narrow the terminal is", () => {
  const reference = { $secret: { file: "/run/secrets/a-rather-long-name-of-a-key-file.p8" } };
  const text = renderers.human(
    plan({ items: [item({ changes: [change({ path: "/connection/private_key", before: "x".repeat(90), after: reference })] })] }),
    { color: false, verbose: false, width: 40 },
  );
  expect(text.replaceAll(/\s+/gu, " ")).toContain("(secret file:/run/secrets/a-rather-long-name-of-a-key-file.p8)");
});

test.each<Format>(["human", "markdown"])("a literal with a secret's name is not shown in %s, at any depth", (format) => {
  const value = { password: "canary-1", list: [{ api_key: ["canary-2"] }], port: 5432 };
  for (const path of ["/connection", "/connection/client_token"]) {
    const after = path === "/connection" ? value : "canary-3";
    const text = renderers[format](withValue(path, after as never), { color: false, verbose: true });
    expect(text).toContain("(secret)");
    expect(text.replaceAll(`secret_value: ${after}`, "")).not.toMatch(/canary/u);
  }
});

test("a resolved secret in a document is not written by any format", () => {
  const stray = new Secret("canary") as never;
  for (const format of ["human", "json", "markdown"] as const) {
    expect(renderers[format](withValue("/connection/port", stray), { color: false, verbose: true })).not.toContain("canary");
  }
});
