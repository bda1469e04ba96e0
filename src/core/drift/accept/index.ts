export { acceptInFiles, type SharedEdit } from "./accept.ts";
