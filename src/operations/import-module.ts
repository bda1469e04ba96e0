import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * Loads a JavaScript module of the user, as it is now. In a file of its own, since V8 cannot run `import()` in compiled code that was
 * kept (src/compiled-code/loader.ts).
 */
export const importModule = (file: string): Promise<unknown> => import(currentUrl(file));

/** Node keeps modules by URL. A long-running process must not run a module as it was before its file changed. */
function currentUrl(file: string): string {
  const { mtimeMs, size } = statSync(file);
  return `${pathToFileURL(file).href}?${mtimeMs}-${size}`;
}
