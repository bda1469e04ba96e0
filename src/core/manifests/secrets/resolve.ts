import type { Address } from "../../base/model/address.ts";
import { defined, isObject } from "../../base/model/json/json.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import { locationIn, type Manifest } from "../../base/model/manifest.ts";
import { type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { describeSecret, isSecretReference, Secret, type SecretReference, secretKey } from "../../base/model/settings/secret.ts";
import { andMore } from "../../base/text/lists.ts";
import { fault, readSecretText, type SecretFault, type SecretOptions } from "./source.ts";

interface ResolvedSecrets {
  /** By `secretKey` of the reference: equal references share a value. */
  readonly values: ReadonlyMap<string, Secret>;
  /** One for each reference without a value. They never contain a value. */
  readonly problems: readonly Problem[];
}

/**
 * Reads every secret. `placesOf` is called only for secrets without a value. Throws only the
 * signal's reason when aborted.
 */
export async function resolveSecrets(
  references: readonly SecretReference[],
  options: SecretOptions,
  placesOf: (reference: SecretReference) => readonly SecretPlace[] = () => [],
): Promise<ResolvedSecrets> {
  const wanted = [...new Map(references.map((reference) => [secretKey(reference), reference]))];
  const values = new Map<string, Secret>();
  const problems: Problem[] = [];
  for (const [key, reference] of wanted) {
    const outcome = await resolveOne(reference, options);
    if ("text" in outcome) values.set(key, new Secret(outcome.text));
    else problems.push(toProblem(reference, outcome, placesOf(reference)));
  }
  options.signal?.throwIfAborted();
  return { values, problems };
}

/** The text of a secret. Problems never quote it. */
async function resolveOne({ $secret }: SecretReference, options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  options.signal?.throwIfAborted();
  const read = await readSecretText($secret, options);
  return "text" in read && isPlaceholder(read.text)
    ? fault("E_SECRET_MISSING", "The value is a placeholder such as *** or changeme, not a secret. Replace it with the real value.")
    : read;
}

function toProblem(reference: SecretReference, { code, message }: SecretFault, places: readonly SecretPlace[]): Problem {
  const [first] = places;
  const needed = first === undefined ? "" : ` ${neededBy([...new Set(places.map(({ address }) => address))])}`;
  return problemAt(first?.place, {
    code,
    message: `${describeSecret(reference)}: ${message}${needed}`,
    ...defined({ address: first?.address }),
  });
}

const mostNamed = 5;

function neededBy(addresses: readonly Address[]): string {
  const [only, ...others] = addresses;
  if (others.length === 0) return `${only} needs it.`;
  return `${andMore(addresses, "object", { shown: mostNamed })} need it.`;
}

/**
 * Typical placeholders for secrets: `***`, `<redacted>`, `[secret]`, `changeme`, an unreplaced
 * variable.
 */
function isPlaceholder(value: string): boolean {
  const text = value.trim().toLowerCase();
  return /^(?:\*+|x{3,}|[<[{(]\s*(?:redacted|secret|password|masked|hidden|api[_-]?key|token|your[ _-].*)\s*[>\]})]|redacted|changeme|change[_-]me|todo|replace[_-]?me|\$\{[^}]*\})$/u.test(
    text,
  );
}

/** Where a manifest uses a secret. */
interface SecretPlace {
  readonly address: Address;
  readonly place: SourceLocation;
}

/**
 * Where these manifests use the secret, in their order. Slow, because it searches all values; for
 * missing secrets.
 */
export function secretPlaces(reference: SecretReference, manifests: readonly Manifest[]): readonly SecretPlace[] {
  const wanted = secretKey(reference);
  const pointersIn = (value: unknown, path: readonly string[]): readonly string[] => {
    if (isSecretReference(value)) return secretKey(value) === wanted ? [toPointer(path)] : [];
    if (!Array.isArray(value) && !isObject(value)) return [];
    return Object.entries(value).flatMap(([key, member]) => pointersIn(member, [...path, key]));
  };
  return manifests.flatMap((manifest) =>
    pointersIn(manifest.spec, ["spec"]).map((pointer) => ({ address: manifest.address, place: locationIn(manifest, pointer) })),
  );
}
