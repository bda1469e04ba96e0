import { describe, expect, test } from "vitest";
import { renderers } from "../../../../../src/core/render/index.ts";
import { plan } from "../../plans.ts";

const deferred = { address: "Schemas/returns", waitsFor: ["Integration/returns"], desired: { schemas: {} } };
const shown = (format: "human" | "markdown" | "html", liveId?: string): string =>
  renderers[format](plan({ deferred: [{ ...deferred, ...(liveId === undefined ? {} : { liveId }) }] }), { color: false, verbose: false })
    .replaceAll(/[`<>]|<code>|<\/code>/gu, "")
    .replaceAll(/\/?code/gu, "");

describe.each(["human", "markdown", "html"] as const)("%s", (format) => {
  test("names objects that must be created before it", () => {
    expect(shown(format)).toContain("waits for Integration/returns");
  });

  test("waits for the schema of an existing integration", () => {
    expect(shown(format, "8f1c")).toContain("waits for the service to discover the schema of Integration/returns");
    expect(shown(format, "8f1c")).not.toContain("waits for Integration/returns");
  });
});
