import type { Address } from "../../model/address.ts";
import { defined, isObject, type JsonValue } from "../../model/json/json.ts";
import { atPointer, toPointer } from "../../model/json/pointer.ts";
import { type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import { locationIn, type Resource } from "../../model/resource.ts";
import {
  describeSecret,
  isSecretReference,
  Secret,
  type SecretReference,
  type SecretSource,
  secretKey,
} from "../../model/settings/secret.ts";
import { andMore } from "../../text/lists.ts";
import { readNumber } from "../scalars.ts";
import { fault, readSecretText, type SecretFault, type SecretOptions } from "./source.ts";

interface ResolvedSecrets {
  /** By `secretKey` of the reference: equal references share a value, and a command runs once. */
  readonly values: ReadonlyMap<string, Secret>;
  /**
   * One for each reference without a value. They never contain a value or the output of a command.
   */
  readonly problems: readonly Problem[];
}

/** Concurrent commands: they may call a vault with a rate limit. */
const concurrency = 4;

/**
 * Reads every secret. `placesOf` is called only for secrets without a value. Throws only the
 * signal's reason when aborted.
 */
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
  await Promise.all(Array.from({ length: concurrency }, work));
  options.signal?.throwIfAborted();
  return { values, problems: order.flatMap((key) => problemByKey.get(key) ?? []) };
}

async function resolveOne({ $secret }: SecretReference, options: SecretOptions) {
  options.signal?.throwIfAborted();
  const read = await readSecretText($secret, options);
  return "text" in read ? convertSecret(read.text, $secret) : read;
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
 * The value in a secret's text: the member at `pointer`, as `type`. Problems never quote the text.
 */
function convertSecret(text: string, { pointer, type }: SecretSource): { readonly value: JsonValue } | SecretFault {
  const picked = pointer === undefined ? { value: text } : pick(text, pointer);
  if (!("value" in picked)) return picked;
  const { value } = picked;
  if (typeof value === "string" && isPlaceholder(value)) {
    return fault(
      "E_PLACEHOLDER_SECRET",
      "The value is a placeholder such as *** or changeme, not a secret. Replace it with the real value.",
    );
  }
  if (type === undefined) return { value };
  const converted = convert(typeof value === "string" ? value.trim() : value, type);
  return converted === undefined
    ? fault("E_SECRET_TYPE", `The value is not ${typeWords[type]}, which \`type\` requires.`)
    : { value: converted };
}

function pick(text: string, pointer: string): { readonly value: JsonValue } | SecretFault {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    return fault("E_SECRET_POINTER", "`pointer` requires a JSON value, but the value is not valid JSON.");
  }
  const value = atPointer(whole, pointer);
  if (value === undefined || value === null || value === "") {
    return fault("E_SECRET_POINTER", `There is nothing at ${JSON.stringify(pointer)} in the JSON.`);
  }
  return { value: value as JsonValue }; // JSON.parse gives nothing else
}

const typeWords = { integer: "a whole number", number: "a number", boolean: "true or false" };

function convert(value: JsonValue, type: "integer" | "number" | "boolean"): JsonValue | undefined {
  if (type === "boolean") return typeof value === "boolean" ? value : value === "true" ? true : value === "false" ? false : undefined;
  return readNumber(typeof value === "string" || typeof value === "number" ? String(value) : "", type);
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
export function secretPlaces(reference: SecretReference, resources: readonly Resource[]): readonly SecretPlace[] {
  const wanted = secretKey(reference);
  const pointersIn = (value: unknown, path: readonly string[]): readonly string[] => {
    if (isSecretReference(value)) return secretKey(value) === wanted ? [toPointer(path)] : [];
    if (!Array.isArray(value) && !isObject(value)) return [];
    return Object.entries(value).flatMap(([key, member]) => pointersIn(member, [...path, key]));
  };
  return resources.flatMap((resource) =>
    pointersIn(resource.spec, ["spec"]).map((pointer) => ({ address: resource.address, place: locationIn(resource, pointer) })),
  );
}
