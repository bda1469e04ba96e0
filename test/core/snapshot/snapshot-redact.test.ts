import { expect, test } from "vitest";
import { redact } from "../../../src/core/snapshot/snapshot.ts";

// Built from pieces, so that no scanner takes this file for a leak.
const key = `AKIA${"ABCD".repeat(4)}`;

test.each([
  ["jdbc:postgresql://etl:hunter2@db.example.com/orders", "jdbc:postgresql://etl:(redacted)@db.example.com/orders"],
  [`rotated, was ${key}.`, "rotated, was (redacted)."],
  [`use ghp_${"a1B2".repeat(8)} here`, "use (redacted) here"],
  ["password: hunter2, ask Dana", "password: (redacted), ask Dana"],
  ["API_KEY='abc' in vault", "API_KEY='(redacted)' in vault"],
  ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend", "(redacted)\nend"],
])("%j becomes %j", (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each(["Contains personal data", "The token table: hashed", "see https://example.com/a:b@c", "dana@example.com", "secret sauce", ""])(
  "%j is not changed",
  (text) => {
    expect(redact(text)).toBe(text);
  },
);
