import { describe, expect, it } from "vitest";
import { postgresOfSuite } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { isAll, sampleOf, sampleSeed } from "../support/sample.ts";
import { gitStore, postgresStore, type SharedStore } from "./machines.ts";
import { disturbGroups, recordedRequests, refusal } from "./matrix.ts";
import { canaries } from "./mixed-project.ts";

const faults: readonly string[] = [
  refusal,
  ...["reset-before", "status:500", "status:503;retry-after=0", "status:429;retry-after=0", "html"],
  ...["reset-after", "status-after:500", "truncate", "empty", "content-type", "delay:3000"],
];

/** Requests that can fail in the same apply: the first write of each kind. */
const groups: readonly (readonly string[])[] = [
  ["POST /v1/assets", "PATCH /v1/assets/d-13", "PATCH /v1/integrations/8f1c/schemas", "POST /v1/tags/t-3/relation"],
  ["POST /v1/integrations", "PUT /v1/tags/t-3"],
  ["PATCH /v1/integrations/a69f567d/schemas"],
];

const postgres = postgresOfSuite();
const requests = await recordedRequests();

interface Store {
  readonly open: () => Promise<SharedStore>;
  readonly faults: readonly string[];
}

/** The records in git take several times as long as those in PostgreSQL, so git gets a third of the faults, and PostgreSQL the others. */
const inGit = sampleOf(faults, { name: "other machine, git", kindOf: () => "fault", most: () => 4 });
const inPostgres = isAll ? faults : faults.filter((fault) => !inGit.includes(fault));
const stores: Readonly<Record<SharedStore["name"], Store>> = {
  git: { open: () => gitStore(), faults: inGit },
  postgres: { open: () => postgresStore(postgres), faults: inPostgres },
};

it("disturbs every kind of request that writes", () => {
  const kinds = new Set(requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`));
  expect(groups.flat().sort()).toEqual([...kinds].sort());
});

describe("a write that fails on one machine: another machine finishes, and nothing is created twice or lost, and no secret is stored", () => {
  for (const [name, { open, faults: tried }] of Object.entries(stores))
    it(`with the records in ${name}`, { timeout: 600_000, ...(name === "postgres" ? needs("postgresql") : {}) }, async () => {
      const store = await open();
      const disturbed = groups.map((kinds) =>
        kinds.flatMap((kind) => requests.filter(({ method, path, nth }) => nth === 1 && kind === `${method} ${path}`)),
      );
      const failures: string[] = [];
      let [cases, unknown] = [0, 0];
      for (const fault of tried) {
        const client = fault.startsWith("delay") ? { timeoutSeconds: 1 } : {};
        const found = await disturbGroups(disturbed, fault, { store, client, lanes: 3 });
        [cases, unknown] = [cases + found.cases, unknown + found.unknown];
        failures.push(...found.failures);
      }
      console.info(
        `fault matrix with two machines, ${name}: ${cases} cases, DIMSYNC_TESTS_SEED=${sampleSeed}, ` +
          `${unknown} asked the user, ${failures.length} failures`,
      );
      expect(failures).toEqual([]);
      const contents = store.contents();
      expect(contents).toContain("Integration/returns");
      const secrets = Object.values(canaries).flatMap((value) => [JSON.stringify(value).slice(1, -1), ...value.split("\n")]);
      expect(secrets.filter((secret) => contents.includes(secret))).toEqual([]);
      expect(cases).toBeGreaterThan(0);
    });
});
