// What waits says what it waits for.
import { describe, expect, test } from "vitest";
import { renderers } from "../../../../../src/core/render/index.ts";
import { stepsFrom } from "../../../../support/steps.ts";
import { plan } from "../../plans.ts";

const waiting = { verb: "update", address: "Schemas/returns", waitsFor: ["Integration/returns"], desired: { schemas: {} } } as const;
const shown = (format: "human" | "markdown" | "html", liveId?: string): string =>
  renderers[format](plan({ steps: stepsFrom({ waiting: [{ ...waiting, ...(liveId === undefined ? {} : { liveId }) }] }) }), {
    color: false,
    verbose: false,
  })
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
