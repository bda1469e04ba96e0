export { type CiEnvironment, readCiEnvironment } from "./environment.ts";
export { hasJobEnded, openProvider, type Rest } from "./rest.ts";
export { type CiSystem, type CiTarget, ciFiles, ciProject, namesOf, readKey } from "./workflows.ts";
