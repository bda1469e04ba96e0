import type { GitProbe } from "./git/probe.ts";
import type { PostgresProbe } from "./postgres/probe.ts";

/** The condition of the records of a target, for `dimsync doctor`. */
export type StoreProbe = { readonly store: "folder" } | GitProbe | PostgresProbe;
