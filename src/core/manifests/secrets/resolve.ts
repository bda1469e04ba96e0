import { open } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import type { Address } from "../../base/model/address.ts";
import { errorCode } from "../../base/model/errors.ts";
import { defined, isObject, own } from "../../base/model/json/json.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import { locationIn, type Manifest } from "../../base/model/manifest.ts";
import { type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { allowPathVariable, isPullRequestJob } from "../../base/model/settings/env.ts";
import {
  describeSecret,
  isSecretReference,
  Secret,
  type SecretReference,
  type SecretSource,
  secretKey,
} from "../../base/model/settings/secret.ts";
import type { Code } from "../../base/model/titles.ts";
import { andMore } from "../../base/text/lists.ts";
import { boundaryOf, outsideMessage } from "../boundary.ts";

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

interface SecretOptions {
  /** Absolute path of the folder of dimsync.yaml: paths are relative to it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Why a secret has no value, without the value. */
interface SecretFault {
  readonly code: Code;
  readonly message: string;
}

const maxBytes = 1024 * 1024;

/** The text of an environment variable or a file. Throws the signal's reason when aborted. */
async function readSecretText(source: SecretSource, options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  if (source.env !== undefined) return fromEnvironment(source.env, options);
  if (source.file !== undefined) return fromFile(source.file, options);
  return fault("E_MISSING_KEY", "The reference has neither env nor file. Add exactly one.");
}

function fromEnvironment(name: string, { env }: SecretOptions): { readonly text: string } | SecretFault {
  const text = own(env, name);
  if (text !== undefined && text !== "") return { text };
  const state = text === undefined ? "is not set" : "is empty, which counts as missing";
  return fault("E_SECRET_MISSING", `The environment variable ${name} ${state}. ${advice(name, env)}`);
}

/** A job passes a secret under a name of its own choice, such as the read key as the API key. */
function advice(name: string, { GITHUB_ACTIONS: github, GITLAB_CI: gitlab }: SecretOptions["env"]): string {
  if (github === "true") return `Create the secret that the workflow passes as ${name}. A secret that does not exist is empty.`;
  if (gitlab === "true")
    return `Create the variable that the job passes as ${name}. One that is protected exists only on protected branches.`;
  return "Set it where dimsync runs.";
}

/** Whoever opens a pull request could otherwise have any file of the machine read. The operator's own files are in folders for secrets. */
function whyOutside(file: string, { folder, env }: SecretOptions): string | undefined {
  if (!isPullRequestJob(env)) return undefined;
  const ofOperator = ["/run/secrets", env["DIMSYNC_API_KEY_FILE"], env[allowPathVariable]];
  const allowed = ofOperator.filter((path) => path !== undefined && path !== "").join(delimiter);
  const { leadsOutside, top } = boundaryOf(folder, { cwd: process.cwd(), env: { [allowPathVariable]: allowed } });
  const target = leadsOutside(resolve(folder, file));
  if (target === undefined) return undefined;
  return `${outsideMessage(file, target, top)} In a pull request, secrets can also be in /run/secrets.`;
}

async function fromFile(file: string, options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  const { folder, signal } = options;
  const path = resolve(folder, file);
  signal?.throwIfAborted();
  const outside = whyOutside(file, options);
  if (outside !== undefined) return fault("E_PATH_OUTSIDE", outside);
  let bytes: Buffer;
  try {
    bytes = await readUpToLimit(path);
  } catch (error) {
    const reason = errorCode(error);
    return reason === "ENOENT"
      ? fault("E_SECRET_MISSING", `The file ${path} does not exist. Its path is relative to the folder of dimsync.yaml.`)
      : fault("E_SECRET_MISSING", `The file ${path} can't be read (${reason}). Check its permissions.`);
  }
  return decode(bytes, "The file");
}

/** Reads at most one byte more than the limit: the path may be a device. */
async function readUpToLimit(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length <= maxBytes) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** UTF-8 text without one newline at the end, which editors and `echo` add. */
function decode(bytes: Buffer, what: string): { readonly text: string } | SecretFault {
  if (bytes.length > maxBytes) return fault("E_SECRET_MISSING", `${what} is longer than 1 MiB.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/u, "");
    return text === "" ? fault("E_SECRET_MISSING", `${what} is empty.`) : { text };
  } catch {
    return fault("E_SECRET_MISSING", `${what} is not UTF-8 text.`);
  }
}

const fault = (code: Code, message: string): SecretFault => ({ code, message });
