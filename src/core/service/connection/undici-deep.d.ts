// undici has types only for its entry point.
declare module "undici/lib/dispatcher/pool.js" {
  // biome-ignore lint/style/noDefaultExport: the module has one
  export { Pool as default } from "undici";
}
