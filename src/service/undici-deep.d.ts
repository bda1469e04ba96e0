// undici ships types for its entry point only. The whole of it costs 74 ms to load, so single modules are loaded by their file.
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
