// Several targets begin with a table of them.
import { describe, expect, test } from "vitest";
import { formats } from "../../../../src/core/render/formats.ts";
import { stepsFrom } from "../../../support/steps.ts";
import { plan } from "../plans.ts";
import { doneResult } from "../results.ts";

const blocked = { address: "Asset/lake", code: "E_UNBOUND", message: "Its id is not recorded." } as const;
const documents = [plan({ target: "prod" }), plan({ target: "dev", steps: stepsFrom({ blocked: [blocked] }) })];

async function rendered(format: "human" | "markdown", all: Parameters<Awaited<ReturnType<(typeof formats)["human"]>>>[0], width = 100) {
  return (await formats[format]())(all, { color: false, verbose: false, width });
}

describe("documents of several targets", () => {
  test("begin with a table of the targets in a terminal", async () => {
    const [head, prod, dev] = (await rendered("human", documents)).split("\n");
    expect(head).toMatch(/^TARGET +STATE +EXPOSE +CHANGES +BY HAND +POLICY FINDINGS +BLOCKED +LAST RUN$/u);
    expect(prod).toMatch(/^prod +no changes +0 +0 +0 +0 +0 +\d{4}-\d\d-\d\d \d\d:\d\d UTC$/u);
    expect(dev).toMatch(/^dev +blocked +0 +0 +0 +0 +1 +\d{4}-/u);
  });

  test("keep the table within 60 columns", async () => {
    const [table = ""] = (await rendered("human", documents, 60)).split("\n\n");
    for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(60);
    expect(table).toContain("last run");
  });

  test("begin with a table of the targets in Markdown", async () => {
    const text = await rendered("markdown", documents);
    expect(text).toMatch(/^\| Target \| State \|[^\n]*\n\|[ -|]*\n\| `prod` \| no changes \|[^\n]*\n\| `dev` \| \*\*blocked\*\* \|/u);
  });

  test("of which a run applied nothing because of an error or a guard do not say that it is done", async () => {
    const results = ([0, 1, 3, 130] as const).map((code) => ({
      ...doneResult,
      target: `t${code}`,
      steps: [],
      exit: { code, reasons: [] },
    }));
    const text = await rendered("human", results);
    const states = text.split("\n").flatMap((line) => /^t\d+ +(\w+)/u.exec(line)?.[1] ?? []);
    expect(states).toEqual(["done", "error", "refused", "interrupted"]);
    expect(text.match(/Nothing to apply\./gu)).toHaveLength(1);
  });

  test("have no table if there is one target", async () => {
    expect(await rendered("human", documents.slice(0, 1))).not.toContain("last run");
  });
});
