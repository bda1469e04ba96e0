// Whatever one request or write to PostgreSQL does, a later run finishes, and nothing is created twice.
import { describe } from "vitest";
import { postgresOfSuite } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { postgresStore } from "./machines.ts";
import { matrixOfFile, tryStore } from "./matrix-suite.ts";

// A file of its own: the other stores need no program that may be missing.

const server = postgresOfSuite();

describe("the records are in PostgreSQL: a later run finishes", needs("postgresql"), () => {
  tryStore(matrixOfFile(), "postgres", (network) => postgresStore(server, network));
});
