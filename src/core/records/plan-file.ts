import { constants } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { DimsyncError } from "../base/model/errors.ts";
import { canonicalJson, isObject, own } from "../base/model/json/json.ts";
import { DeepNesting, parseJson } from "../base/model/json/parse.ts";
import type { Plan, Result } from "../base/model/plan.ts";
import { masked } from "../base/model/settings/secret.ts";
import type { Code } from "../base/model/titles.ts";
import { documentJson } from "../base/text/control-characters.ts";
import { reasonOf, writeAtomic } from "./files/atomic.ts";

export interface PlanFileOptions {
  /** DIMSYNC_DIGEST_KEY: makes the digest one that only its holders can make. An empty string counts as none. */
  readonly digestKey?: string | undefined;
}

interface DocumentReadOptions extends PlanFileOptions {
  /** The check against the JSON Schema; called with the document without `integrity`. */
  readonly validate?: (value: unknown) => boolean;
}

const supportedMajor = 3;

/**
 * Writes the plan with its digest (`integrity`). The digest of one in which a secret was masked does not match: apply must not send the mask.
 * Written atomically and readable by its owner only. Throws E_OUTPUT (exit 1).
 */
export async function writePlanFile(file: string, plan: Plan, { digestKey }: PlanFileOptions = {}): Promise<void> {
  // The digest covers what a reader parses: not the digest of a file that the plan was read from.
  const { integrity: _, ...document }: Plan & { readonly integrity?: unknown } = plan;
  const signed = { ...document, integrity: { digest: digestOf(document, digestKey) } };
  const text = masked(`${[...documentJson(signed)].join("")}\n`);
  await writeAtomic(file, text, { mode: 0o600 }).catch((error: unknown) => {
    throw new DimsyncError(
      "E_OUTPUT",
      `The plan could not be saved as ${file}: ${reasonOf(error)}. Choose another file with --out, or make the folder writable.`,
      { cause: error },
    );
  });
}

/**
 * Reads a saved plan for `apply`. Throws E_PLAN_TAMPERED, E_DIGEST_KEY, and E_PLAN_FILE if this version cannot use it (all exit 5);
 * E_PLAN_FILE with exit 1 if the file cannot be read or is not a saved plan.
 */
export async function readPlanFile(file: string, options: DocumentReadOptions = {}): Promise<Plan> {
  const { document, digest } = toDocument(file, await parse(file));
  if (own(document, "kind") !== "Plan") throw notAPlan(file, "it is not a plan", "Use a file that `dimsync plan --out FILE` wrote.");
  refuseFault(file, integrityFault(document, digest, options.digestKey));
  if (!isPlan(document) || !isValid(document, options))
    throw unusable(file, "members are missing or have the wrong type", "Make the plan again.");
  return document;
}

/**
 * Reads any saved document for `show`: a plan, a drift report or a result, or a list of them, one per
 * target. Showing needs neither a digest, which `-o json` does not write, nor a key. Only a digest that
 * does not match is refused. Throws as `readPlanFile` does.
 */
export async function readDocuments(file: string, options: DocumentReadOptions = {}): Promise<readonly (Plan | Result)[]> {
  const value = await parse(file);
  if (!Array.isArray(value)) return [readDocument(file, value, options)];
  if (value.length === 0) throw notAPlan(file, "it is an empty list", written);
  return value.map((one) => readDocument(file, one, options));
}

function readDocument(file: string, value: unknown, options: DocumentReadOptions): Plan | Result {
  const { document, digest } = toDocument(file, value);
  const kind = own(document, "kind");
  if (kind !== "Plan" && kind !== "DriftReport" && kind !== "Result") {
    throw notAPlan(file, "it is not a plan, drift report or result", written);
  }
  const isSigned = typeof digest === "string" && digest.startsWith("hmac-sha256:");
  const fault = digest === undefined ? undefined : integrityFault(document, digest, isSigned ? options.digestKey : undefined);
  if (fault !== "keyless") refuseFault(file, fault);
  const valid = isValid(document, options);
  if (valid && isPlan(document)) return document;
  if (valid && isResult(document)) return document;
  throw unusable(file, "members are missing or have the wrong type", "Make it again.");
}

async function parse(file: string): Promise<unknown> {
  const unreadable = (error: unknown): never => {
    throw new DimsyncError("E_PLAN_FILE", `The file ${file} cannot be read: ${reasonOf(error)}. Check its name.`, { cause: error });
  };
  const { size } = await stat(file).catch(unreadable);
  if (size > constants.MAX_STRING_LENGTH)
    throw unusable(file, "it is larger than 512 MB, the most that can be parsed", "Plan a part of the account with --only.");
  const text = await readFile(file, "utf8").catch(unreadable);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof DeepNesting) throw unusable(file, `it ${error.message}`, "Plans are not. Make the plan again.", error);
    if (text.trim() !== "" && !/^\s*[{[]/u.test(text)) throw notAPlan(file, "it is not JSON", written);
    throw unusable(
      file,
      "it is not valid JSON",
      "It may have been truncated when it was copied. Copy it again, or make the plan again.",
      error,
    );
  }
}

function toDocument(file: string, value: unknown): { readonly document: Readonly<Record<string, unknown>>; readonly digest: unknown } {
  if (!isObject(value)) throw notAPlan(file, "it is not a JSON object", written);
  const version = own(value, "formatVersion");
  const major = typeof version === "string" ? /^(\d+)\.\d+$/u.exec(version)?.[1] : undefined;
  if (major === undefined) throw notAPlan(file, "it has no formatVersion", written);
  if (Number(major) !== supportedMajor) {
    throw unusable(
      file,
      `its format is ${version}, and this version of dimsync reads ${supportedMajor}.x`,
      "Use the version of dimsync that wrote it, or make the plan again.",
    );
  }
  const { integrity, ...document } = value;
  return { document, digest: integrity === undefined ? undefined : isObject(integrity) ? own(integrity, "digest") : null };
}

const isValid = (document: object, { validate = () => true }: DocumentReadOptions): boolean => validate(document);

function refuseFault(file: string, fault: IntegrityFault | undefined): void {
  if (fault === undefined) return;
  const { code, what } = faults[fault];
  throw new DimsyncError(code, `The plan ${file} is refused: ${what}`, { exit: 5 });
}

const faults: Readonly<Record<IntegrityFault, { readonly code: Code; readonly what: string }>> = {
  missing: {
    code: "E_PLAN_TAMPERED",
    what: "it has no digest, so it may have been changed after the review. Make a new plan.",
  },
  differs: {
    code: "E_PLAN_TAMPERED",
    what: "its content does not match its digest. It was changed after it was made, or signed with another DIMSYNC_DIGEST_KEY. Make a new plan.",
  },
  keyless: {
    code: "E_DIGEST_KEY",
    what: "it is signed, and DIMSYNC_DIGEST_KEY is not set. Set it to the key that the plan was made with.",
  },
  unsigned: {
    code: "E_PLAN_TAMPERED",
    what: "DIMSYNC_DIGEST_KEY is set, and the plan was made without it, so anyone may have written it. Make a new plan with the key.",
  },
};

const written = "Use a file that dimsync wrote.";

/** A saved document that cannot be used. */
const unusable = (file: string, why: string, whatToDo: string, cause?: unknown): DimsyncError =>
  new DimsyncError("E_PLAN_FILE", `The file ${file} cannot be used: ${why}. ${whatToDo}`, { exit: 5, cause });

/** Not a file that dimsync wrote, which is a usage error. */
const notAPlan = (file: string, why: string, whatToDo: string): DimsyncError =>
  new DimsyncError("E_PLAN_FILE", `The file ${file} cannot be used: ${why}. ${whatToDo}`);

// The members that every reader needs. The JSON Schema checks the rest (`validate`).
function isPlan(value: unknown): value is Plan {
  if (!isObject(value) || (own(value, "kind") !== "Plan" && own(value, "kind") !== "DriftReport")) return false;
  return hasTexts(value, "planId", "createdAt", "target", "account", "manifestDigest") && hasLists(value);
}

function isResult(value: unknown): value is Result {
  if (!isObject(value) || own(value, "kind") !== "Result") return false;
  return hasTexts(value, "runId", "planId", "target", "account") && hasLists(value);
}

const hasTexts = (value: Readonly<Record<string, unknown>>, ...keys: readonly string[]): boolean =>
  keys.every((key) => typeof own(value, key) === "string");

const hasLists = (value: Readonly<Record<string, unknown>>): boolean =>
  ["steps", "findings"].every((key) => Array.isArray(own(value, key)));

/** The problem with the digest of a document. "keyless": it needs a key and there is none. "unsigned": there is a key and it was made without one. */
type IntegrityFault = "missing" | "differs" | "keyless" | "unsigned";

/** `sha256:HEX` of the document's canonical JSON, or `hmac-sha256:HEX` with a key. An empty key counts as none. The document has no member `integrity`. */
export function digestOf(document: object, digestKey: string | undefined): string {
  const hash = digestKey ? createHmac("sha256", digestKey) : createHash("sha256");
  return `${digestKey ? "hmac-sha256" : "sha256"}:${hash.update(canonicalJson(document)).digest("hex")}`;
}

/** Compares the document with its digest; undefined if they match. */
function integrityFault(document: object, digest: unknown, digestKey: string | undefined): IntegrityFault | undefined {
  if (digest === undefined) return digestKey ? "unsigned" : "missing";
  if (typeof digest !== "string") return "differs";
  if (digest.startsWith("hmac-sha256:") && !digestKey) return "keyless";
  if (digest.startsWith("sha256:") && digestKey) return "unsigned";
  const actual = Buffer.from(digest);
  try {
    const expected = Buffer.from(digestOf(document, digestKey));
    return expected.length === actual.length && timingSafeEqual(expected, actual) ? undefined : "differs";
  } catch (error) {
    // Nested too deeply to be printed, so dimsync did not write it.
    if (error instanceof RangeError) return "differs";
    throw error;
  }
}
