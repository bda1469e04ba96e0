import type { Address } from "../model/address.ts";
import { canonicalJson } from "../model/json.ts";
import type { Problem } from "../model/problem.ts";
import { describeSecret, Secret, type SecretReference } from "../model/secret.ts";
import type { SecretPlace } from "./secret-places.ts";
import { readSecretText, type SecretFault, type SecretOptions } from "./secret-source.ts";
import { convertSecret } from "./secret-value.ts";

export type { SecretOptions } from "./secret-source.ts";

export interface ResolvedSecrets {
  /** By `secretKey` of the reference: equal references share a value, and a command runs once. */
  readonly values: ReadonlyMap<string, Secret>;
  /** One for each reference that has no value. They never hold a value, nor what a command printed. */
  readonly problems: readonly Problem[];
}

/** The key of a reference in `ResolvedSecrets.values`. */
export const secretKey = (reference: SecretReference): string => canonicalJson(reference);

/** Commands at a time: they may ask a vault that limits its callers. */
const lanes = 4;

/** Reads every secret (product §2.2). `placesOf` is asked only for what has no value. Throws the signal's reason when aborted, nothing else. */
export async function resolveSecrets(
  references: readonly SecretReference[],
  options: SecretOptions,
  placesOf: (reference: SecretReference) => readonly SecretPlace[] = () => [],
): Promise<ResolvedSecrets> {
  const pending = [...new Map(references.map((reference) => [secretKey(reference), reference]))];
  const values = new Map<string, Secret>();
  const problemByKey = new Map<string, Problem>();
  const work = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const [key, reference] = next;
      const outcome = await resolveOne(reference, options);
      if ("value" in outcome) values.set(key, new Secret(outcome.value));
      else problemByKey.set(key, toProblem(reference, outcome, placesOf(reference)));
    }
  };
  const order = pending.map(([key]) => key);
  await Promise.all(Array.from({ length: lanes }, work));
  options.signal?.throwIfAborted();
  return { values, problems: order.flatMap((key) => problemByKey.get(key) ?? []) };
}

async function resolveOne({ $secret }: SecretReference, options: SecretOptions) {
  options.signal?.throwIfAborted();
  const read = await readSecretText($secret, options);
  return "text" in read ? convertSecret(read.text, $secret) : read;
}

function toProblem(reference: SecretReference, { code, summary, message }: SecretFault, places: readonly SecretPlace[]): Problem {
  const [first] = places;
  const needed = first === undefined ? "" : ` ${neededBy([...new Set(places.map(({ address }) => address))])}`;
  return { code, severity: "error", summary, message: `${describeSecret(reference)}: ${message}${needed}`, ...first };
}

const mostNamed = 5;

function neededBy(addresses: readonly Address[]): string {
  const [only, ...others] = addresses;
  if (others.length === 0) return `${only} needs it.`;
  const rest = addresses.length - mostNamed;
  return `${addresses.slice(0, mostNamed).join(", ")}${rest > 0 ? ` and ${rest} more` : ""} need it.`;
}
