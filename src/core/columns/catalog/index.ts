export { acceptColumns } from "./accept.ts";
export { type Catalog, readCatalog } from "./file.ts";
export { newReview } from "./review.ts";
