import { randomBytes } from "node:crypto";
import { once, setMaxListeners } from "node:events";
import { createServer, type Server } from "node:http";
import type { AccountState } from "./data/account.ts";
import { own } from "./data/own.ts";
import { seedAccount } from "./data/seed.ts";
import { draftsLike } from "./data/seed-observed.ts";
import { openStore, type Store } from "./data/store.ts";
import { record } from "./handlers/audit.ts";
import { type Setting, serve } from "./http/exchange.ts";
import { openFaultBook } from "./http/faults.ts";
import { type Actor, behaviourOf, type CountedRequest, type EmbeddedOptions, type EmbeddedService } from "./options.ts";

/**
 * Starts the service on 127.0.0.1 and resolves when it listens. Throws an Error for an invalid fault, a file that is not an
 * account, an empty `apiKeys`, and a port that is not available (EADDRINUSE).
 */
export async function startEmbeddedService(given: EmbeddedOptions = {}): Promise<EmbeddedService> {
  const options = behaviourOf(given);
  const faults = openFaultBook(options.faults ?? []);
  const store = openStore(options.file, () => initialAccount(options));
  const emailByKey = keysOf(options, store);
  const [apiKey] = emailByKey.keys();
  if (apiKey === undefined) throw new Error("The embedded service needs at least one API key: apiKeys is empty.");
  const requests: CountedRequest[] = [];
  const closing = new AbortController();
  // Every waiting request adds a listener; this is not a leak.
  setMaxListeners(0, closing.signal);
  const setting: Setting = {
    options,
    store,
    emailByKey,
    faults,
    closing: closing.signal,
    lagging: new Map(),
    onExchange: (exchange) => {
      requests.push({ method: exchange.method, path: exchange.path, status: exchange.status });
      options.onExchange?.(exchange);
    },
  };

  const { server, port } = await listen(setting, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    apiKey,
    keyOf: (email) => [...emailByKey].find(([, owner]) => owner === email)?.[0],
    requests,
    counts: () => countsOf(requests),
    resetCounts: () => void requests.splice(0),
    state: () => structuredClone(store.account),
    mutate: (change, actor, event) => {
      change(store.account);
      recordInConsole(store.account, options.now?.() ?? new Date(), actor, event);
      store.save();
    },
    addFault: faults.add,
    clearFaults: faults.clear,
    close: () => close(server, closing),
  };
}

/** Resolves when the service listens on 127.0.0.1. Port 0: any free port. */
async function listen(setting: Setting, wanted: number): Promise<{ readonly server: Server; readonly port: number }> {
  // Long source names travel in paths, percent-encoded.
  const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 60_000 }, (incoming, response) => {
    // Rejected if the client disconnected or the service closed during the request. Nobody waits for the result.
    serve(setting, incoming, response).catch(() => incoming.socket.destroy());
  });
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

async function close(server: Server, closing: AbortController): Promise<void> {
  if (closing.signal.aborted) return;
  closing.abort();
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

const person: Actor = { email: "dana@example.com" };

function recordInConsole(account: AccountState, now: Date, actor = person, event = "Account changed in the console"): void {
  const { email, ip = "203.0.113.7", userAgent = "Mozilla/5.0" } = actor;
  record(account, { email, ipAddress: ip, userAgent }, now, event);
}

function initialAccount({ state, observed = false, drafts = 0 }: EmbeddedOptions): AccountState {
  // A function builds a large account only once; an object would be copied.
  const account = state === undefined ? seedAccount(observed) : typeof state === "function" ? state() : structuredClone(state);
  const [like] = account.integrations;
  const ids = new Set(account.integrations.map(({ id }) => id));
  if (like !== undefined) account.integrations = [...account.integrations, ...draftsLike(like, drafts).filter(({ id }) => !ids.has(id))];
  return account;
}

/** API key → e-mail address. The keys of `keysFor` are random, and stay the same if the account is a file. */
function keysOf({ apiKeys, keysFor }: EmbeddedOptions, { account, save }: Store): ReadonlyMap<string, string> {
  if (keysFor === undefined) return new Map(Object.entries(apiKeys ?? { [randomKey()]: "bot@example.com" }));
  const keys = keysFor.map((email) => [email, own(account.keys ?? {}, email) ?? randomKey()] as const);
  account.keys = { ...account.keys, ...Object.fromEntries(keys) };
  save();
  return new Map([...Object.entries(apiKeys ?? {}), ...keys.map(([email, key]) => [key, email] as const)]);
}

const randomKey = (): string => randomBytes(16).toString("hex");

function countsOf(requests: readonly CountedRequest[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { method } of requests) counts.set(method, (counts.get(method) ?? 0) + 1);
  return Object.fromEntries(counts);
}
