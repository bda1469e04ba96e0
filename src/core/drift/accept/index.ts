export { type Accepted, acceptDrift, type FileEdit, writeEdits } from "./accept.ts";
