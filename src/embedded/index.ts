export type * from "./data/account.ts";
export { seedAccount } from "./data/seed.ts";
export type * from "./options.ts";
export { startEmbeddedService } from "./service.ts";
