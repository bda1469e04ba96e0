import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  CompletionRequest,
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";

const server = fileURLToPath(new URL("../../node_modules/yaml-language-server/bin/yaml-language-server", import.meta.url));

/** The YAML language server that editors use, as a process. */
export interface YamlEditor {
  /** Opens a file whose text has one `|`, the cursor. Resolves with what an editor offers there, sorted. */
  readonly completions: (text: string) => Promise<readonly string[]>;
  /** Opens a file and resolves with the messages of its problems. */
  readonly problems: (text: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

/** Starts the language server for files in `folder`. It reads a schema that the first line of a file names, and nothing else. */
export async function startYamlEditor(folder: string): Promise<YamlEditor> {
  const child = spawn(process.execPath, [server, "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const found = new Map<string, (messages: readonly string[]) => void>();
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) =>
    found.get(uri)?.(diagnostics.map(({ message }) => (typeof message === "string" ? message : message.value))),
  );
  connection.onRequest("vscode/content", (uri: string) => readFileSync(fileURLToPath(uri), "utf8"));
  connection.onRequest("workspace/configuration", () => [
    { schemaStore: { enable: false }, validate: true, completion: true },
    null,
    null,
    null,
  ]);
  connection.listen();
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    workspaceFolders: null,
    capabilities: { textDocument: { completion: { completionItem: { snippetSupport: false } } }, workspace: { configuration: true } },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  let opened = 0;
  const open = async (text: string): Promise<string> => {
    const uri = pathToFileURL(join(folder, `opened-${++opened}.yaml`)).href;
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: "yaml", version: 1, text },
    });
    return uri;
  };
  return {
    async completions(text) {
      const at = text.indexOf("|");
      const before = text.slice(0, at).split("\n");
      const uri = await open(text.slice(0, at) + text.slice(at + 1));
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
      const offered = await connection.sendRequest(CompletionRequest.type, { textDocument: { uri }, position });
      const items = Array.isArray(offered) ? offered : (offered?.items ?? []);
      return items.map(({ label }) => label).sort();
    },
    async problems(text) {
      const uri = pathToFileURL(join(folder, `opened-${opened + 1}.yaml`)).href;
      const messages = new Promise<readonly string[]>((resolve) => void found.set(uri, resolve));
      await open(text);
      return messages;
    },
    async close() {
      const exited = once(child, "exit");
      connection.dispose();
      child.kill();
      await exited;
    },
  };
}
