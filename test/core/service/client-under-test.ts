import { onTestFinished } from "vitest";
import { ServiceError } from "../../../src/core/base/model/errors.ts";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { type Client, type ClientOptions, createClient } from "../../../src/core/service/client.ts";

export const key = "k-canary-5f2e9";

/** A client that does not wait: it records each wait. Closed when the test ends. */
export function clientFor(baseUrl: string, changes: Partial<ClientOptions> = {}): Client & { readonly waits: number[] } {
  const waits: number[] = [];
  const client = createClient({
    baseUrl,
    apiKey: new Secret(key),
    timeoutMs: 600_000,
    retries: 2,
    concurrency: 8,
    readOnly: false,
    userAgent: "dimsync/test",
    env: {},
    sleep: async (milliseconds) => waits.push(milliseconds),
    random: () => 1,
    ...changes,
  });
  onTestFinished(() => client.close());
  return { ...client, waits };
}

/** The ServiceError of the promise; anything else fails the test. */
export async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the call should have failed");
}
