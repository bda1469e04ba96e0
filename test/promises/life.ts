import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccountState, type IntegrationRecord, startEmbeddedService } from "../../src/embedded/index.ts";
import { loadProject, type Project } from "../../src/index.ts";
import { gitEnv } from "../support/git/env.ts";
import { commitAll, repositoryIn } from "../support/git/remote.ts";
import { builtCli } from "./run.ts";

// A service whose account changes in between runs as an account does, and that answers as a service does on a bad day.

/** What the service does wrong until it is set again. */
export interface Weather {
  /** The next PATCH of schemas is accepted and not done. */
  dropsWrite?: boolean;
  /** After the next PATCH of schemas, its response and the next reads show what was there before. */
  lags?: boolean;
  /** The next PATCH of schemas of this integration is refused. */
  refuses?: string;
  /** A member of the list entry of this integration that no decision needs has another type. */
  odd?: string;
  /** The name in the list entry of this integration cannot be read. */
  unreadable?: string;
  /** How the service shows the schemas of this integration: one member of a column has another type, a name is there twice, or maps lack their entries. */
  distorts?: { readonly id: string; readonly as: keyof typeof distortions };
  /** The list has a draft without source and destination. */
  draft?: boolean;
  /** The key may not read this integration: what the service answers, and whether the list shows it. */
  hidden?: { readonly id: string; readonly status: 403 | 404; readonly isListed: boolean };
}

/** Where the records are: beside the project, in its git remote, or in this database. */
export type Store = "folder" | "git" | { readonly database: string };

export interface LifeOptions {
  readonly account: AccountState;
  readonly manifests: string;
  /** The file of labels, which another program writes and git ignores. */
  readonly labels: string;
  /** The service behaves as its public descriptions say. */
  readonly isObserved: boolean;
  readonly store: Store;
}

export interface Life {
  /** Its folder. */
  readonly cwd: string;
  readonly project: () => Project;
  /** Replaces the manifests, in a commit of their own. */
  readonly edit: (manifests: string) => Promise<void>;
  /** Replaces the file of labels. */
  readonly relabel: (labels: string) => Promise<void>;
  readonly env: Readonly<Record<string, string>>;
  readonly account: () => AccountState;
  readonly mutate: (change: (state: AccountState) => void) => void;
  readonly weather: Weather;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const lagging = 2;

/** Runs `use` with a project of these manifests. */
export async function withLife<T>(
  { account, manifests, labels, isObserved, store }: LifeOptions,
  use: (life: Life) => Promise<T>,
): Promise<T> {
  const service = await startEmbeddedService({ state: account, ...(isObserved ? { observed: true } : {}) });
  const weather: Weather = {};
  const folder = mkdtempSync(join(tmpdir(), "dimsync-life-"));
  const forward = async (method: string, path: string, body = ""): Promise<Answer> => {
    const headers = { "x-api-key": service.apiKey, "content-type": "application/json" };
    const response = await fetch(`${service.url}${path}`, { method, headers, ...(body === "" ? {} : { body }) });
    return { status: response.status, body: await response.text() };
  };
  const answer = answering(weather, forward);
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, body } = await answer(request.method ?? "", request.url ?? "", Buffer.concat(chunks).toString());
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  const { port } = proxy.address() as AddressInfo; // it listens on a port
  const env = { ...gitEnv, KEY: service.apiKey, ...(typeof store === "object" ? { DIMSYNC_DATABASE_URL: store.database } : {}) };
  const target = { baseUrl: `http://127.0.0.1:${port}`, apiKey: { $secret: { env: "KEY" } }, controller: { every: "1m" } };
  const config = {
    ...{ apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"] },
    targets: { prod: { ...target, ...(isObserved ? { service: { extended: true } } : {}) } },
    client: { retries: 0, settleSeconds: 1, timeoutSeconds: 600 },
    guards: { maxChangedPercent: 100 },
  };
  const write = (text: string): void => writeFileSync(join(folder, "project/manifests/all.yaml"), text);
  const cwd = join(folder, "project");
  try {
    mkdirSync(join(cwd, "manifests"), { recursive: true });
    writeFileSync(join(cwd, ".gitignore"), ".dimsync\nlabels.csv\n");
    writeFileSync(join(cwd, "labels.csv"), labels);
    writeFileSync(join(cwd, "dimsync.yaml"), JSON.stringify(config));
    write(manifests);
    repositoryIn(cwd, store === "git" ? join(folder, "remote.git") : undefined);
    if (store !== "folder") {
      const to = store === "git" ? "git:refs/dimsync/prod" : "postgres";
      execFileSync(process.execPath, [builtCli, "records", "init", "--target=prod", `--to=${to}`], { cwd, env, stdio: "pipe" });
    }
    commitAll(cwd);
    let project = await loadProject({ cwd, env });
    const edit = async (text: string): Promise<void> => {
      write(text);
      commitAll(cwd);
      project = await loadProject({ cwd, env });
    };
    const relabel = async (text: string): Promise<void> => {
      writeFileSync(join(cwd, "labels.csv"), text);
      project = await loadProject({ cwd, env });
    };
    const mutate = (change: (state: AccountState) => void): void => service.mutate(change);
    return await use({ cwd, project: () => project, edit, relabel, env, account: service.state, mutate, weather });
  } finally {
    proxy.closeAllConnections();
    await new Promise((done) => proxy.close(done));
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What becomes of a response with schemas. */
export const distortions = {
  odd: (body: string) => body.replaceAll('"hashed":false', '"hashed":"false"'),
  repeated: (body: string) => body.replaceAll('"email":{', '"email":{"enabled":true,"hashed":true},"email":{'),
  withoutTables: (body: string) => without(body, "tables"),
  withoutColumns: (body: string) => without(body, "columns"),
};

const without = (body: string, member: string): string =>
  JSON.stringify(JSON.parse(body), (name, value: unknown) => (name === member ? (body.length % 2 === 0 ? {} : undefined) : value));

function answering(weather: Weather, forward: (method: string, path: string, body?: string) => Promise<Answer>) {
  const stale = new Map<string, { readonly before: Answer; left: number }>();
  return async (method: string, url: string, body: string): Promise<Answer> => {
    const [path = ""] = url.split("?");
    const [, id] = /^\/v1\/integrations\/([^/]+)/u.exec(path) ?? [];
    const refused = (status: number): Answer => ({ status, body: JSON.stringify({ code: "Refused", message: "not possible" }) });
    if (id !== undefined && id === weather.hidden?.id) return refused(weather.hidden.status);
    if (method === "PATCH" && path.endsWith("/schemas")) {
      if (weather.refuses === id) {
        delete weather.refuses;
        return refused(400);
      }
      const before = await forward("GET", path);
      if (weather.dropsWrite === true) {
        delete weather.dropsWrite;
        return before;
      }
      const done = await forward(method, url, body);
      if (weather.lags !== true) return done;
      delete weather.lags;
      stale.set(path, { before, left: lagging });
      return before;
    }
    const late = method === "GET" ? stale.get(path) : undefined;
    if (late !== undefined && late.left-- > 0) return late.before;
    const answered = await forward(method, url, body);
    if (method === "GET" && path.endsWith("/schemas") && weather.distorts?.id === id)
      return { ...answered, body: distortions[weather.distorts?.as ?? "odd"](answered.body) };
    return path === "/v1/integrations" && method === "GET" ? { ...answered, body: listed(answered.body, weather) } : answered;
  };
}

type Entry = Record<string, unknown> & Pick<IntegrationRecord, "id">;

function listed(body: string, { odd, unreadable, draft, hidden }: Weather): string {
  const answer = JSON.parse(body) as { data: { items: Entry[] } }; // the list of the embedded service
  const items = answer.data.items.filter(({ id }) => id !== hidden?.id || hidden.isListed);
  for (const item of items) {
    if (item.id === odd) item["createdAt"] = 1_767_600_000;
    if (item.id === unreadable) item["name"] = { text: item["name"] };
  }
  if (draft === true) items.push({ id: "d9", name: "Draft", createdAt: "2026-03-02T09:30:00.000Z", paused: false });
  return JSON.stringify({ ...answer, data: { ...answer.data, items } });
}
