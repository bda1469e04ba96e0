import { expect, test } from "vitest";
import type { Database } from "../../../src/core/records/postgres/connection.ts";
import { knownAccount } from "../../../src/features/controller/operate.ts";

/** A database whose list of accounts has prod, and which finds prod by its name from the second read on, or never. */
function withProd({ isFound }: { readonly isFound: boolean }): Database {
  let reads = 0;
  const prod = { name: "prod", source: "data", target: "prod", state: "pending" };
  const found = (rows: readonly object[]) => ({ rows: rows.map((row) => ({ row })), rowCount: rows.length });
  return {
    async query(text, values) {
      if (text.includes("dimsync_controller.run r join") || values[0] !== "prod") return found(values.length === 0 ? [prod] : []);
      reads += 1;
      if (reads > 10) throw new Error("read again and again");
      return found(isFound && reads > 1 ? [{ ...prod, id: 1 }] : []);
    },
    script: async () => [],
    processIds: async () => ({ given: 1, actual: 1 }),
    close: async () => {},
  };
}

test("an account that is registered while it is looked up is found", async () => {
  expect(await knownAccount(withProd({ isFound: true }), "prod")).toMatchObject({ name: "prod", target: "prod" });
});

test("an account that disappears while it is looked up is unknown", async () => {
  await expect(knownAccount(withProd({ isFound: false }), "prod")).rejects.toMatchObject({ code: "E_UNKNOWN_ACCOUNT" });
});
