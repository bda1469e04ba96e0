// Databases of one URL share connections.
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../../src/core/records/postgres/connection.ts";
import { postgresOfSuite } from "../../../support/postgres/shared.ts";
import { needs } from "../../../support/programs.ts";

describe("databases of one URL", needs("postgresql"), () => {
  const postgres = postgresOfSuite();

  const connectedTo = (url: string): number =>
    Number(
      postgres.sql(
        url,
        "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()",
      ),
    );

  it("share their connections, until the last one is closed", async () => {
    const url = await postgres.database();
    const controller = openDatabase(url, 1);
    const { actual: first } = await controller.processIds();
    for (let check = 0; check < 20; check += 1) {
      const records = openDatabase(url);
      expect((await records.processIds()).actual).toBe(first);
      await records.close();
    }
    expect((await controller.processIds()).actual).toBe(first);
    expect(connectedTo(url)).toBe(1);
    await controller.close();
    await expect.poll(() => connectedTo(url)).toBe(0);
    const next = openDatabase(url);
    onTestFinished(() => next.close());
    expect((await next.processIds()).actual).not.toBe(first);
  });

  it("other URLs have their own connections", async () => {
    const [one, other] = [openDatabase(await postgres.database()), openDatabase(await postgres.database())];
    onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
    expect((await one.processIds()).actual).not.toBe((await other.processIds()).actual);
  });
});
