// undici has types only for its entry point. Loading all of it takes 74 ms, so dimsync loads single files.
declare module "undici/lib/dispatcher/pool.js" {
  // biome-ignore lint/style/noDefaultExport: the module has one
  export { Pool as default } from "undici";
}

declare module "undici/lib/dispatcher/proxy-agent.js" {
  // biome-ignore lint/style/noDefaultExport: the module has one
  export { ProxyAgent as default } from "undici";
}

declare module "undici/lib/api/api-connect.js" {
  import type { Dispatcher } from "undici";

  // biome-ignore lint/style/noDefaultExport: the module has one
  export default function connect(this: Dispatcher, options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
}
