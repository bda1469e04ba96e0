export type * from "./account.ts";
export { type Fault, type FaultAction, parseFault } from "./faults.ts";
export type * from "./options.ts";
export { seedAccount } from "./seed.ts";
export { startEmbeddedService } from "./service.ts";
