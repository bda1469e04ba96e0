export { errorBodies } from "./behaviour.ts";
export type * from "./data/account.ts";
export { seedAccount } from "./data/seed.ts";
export { parseFault } from "./http/faults.ts";
export type * from "./options.ts";
export { startEmbeddedService } from "./service.ts";
