import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { variablePrefix } from "../../../core/manifests/config/variables.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import { canonicalJson, isObject } from "../../../core/model/json/json.ts";
import { parseJson } from "../../../core/model/json/parse.ts";
import { version } from "../../../core/model/runtime/version.ts";
import { gunzipText } from "../../../core/records/files/gunzip.ts";

/** A project as it was pushed. Contains secret references, never values. */
export interface BundleContent {
  readonly format: 1;
  readonly source: string;
  readonly toolVersion: string;
  /** Absent outside a git repository. */
  readonly commit?: string;
  /** Present if `files` had changes that were not committed. */
  readonly dirty?: true;
  /** Path of the config within `files`. */
  readonly configFile: string;
  /** Text by path, relative to the project's folder: config, variables, manifests and connector schemas. */
  readonly files: Readonly<Record<string, string>>;
  /** `--var` of the push. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Paths within `files`, in the order of `--var-file`. */
  readonly varFiles?: readonly string[];
  /** DIMSYNC_VAR_* as they were at the push. */
  readonly env?: Readonly<Record<string, string>>;
  /** With the embedded database: the project's folder on this machine, whose records are used. */
  readonly folder?: string;
}

/** "sha256:…": the same project has the same digest. */
export const bundleDigest = (content: BundleContent): string =>
  `sha256:${createHash("sha256").update(canonicalJson(content)).digest("hex")}`;

/** "sha256:4f2c1ab09d3e" */
export const shortDigest = (digest: string): string => digest.replace(/^(sha256:)?(.{12}).*$/su, "$1$2");

/** The limits of a bundle, packed and as JSON, in bytes. The largest known project has 80 MB of manifests. */
export const mostPackedBytes = 64 * 2 ** 20;
const mostBytes = 256 * 2 ** 20;

const tooLarge = (what: string): DimsyncError =>
  new DimsyncError(
    "E_BUNDLE",
    `The bundle is too large: it has ${what}. A bundle may have 256 MiB, and 64 MiB compressed. Split the project into several with fewer manifests, and push each with its own --source.`,
  );

/** As it is stored. Throws E_BUNDLE if it is too large. */
export function pack(content: BundleContent): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  if (text.length > mostBytes) throw tooLarge(`${text.length} bytes`);
  const packed = gzipSync(text);
  checkPacked(packed.length);
  return packed;
}

/** Throws E_BUNDLE. */
export function checkPacked(bytes: number): void {
  if (bytes > mostPackedBytes) throw tooLarge(`${bytes} bytes compressed`);
}

/**
 * What was stored, checked as push checks it: whoever can write the database is not whoever runs the
 * worker. `isLocal`: the controller uses the embedded database. Throws E_BUNDLE; never unpacks more
 * than a bundle may have.
 */
export function unpack(packed: Buffer, digest: string, isLocal: boolean): BundleContent {
  const content = contentOf(packed);
  if (content.format !== 1)
    throw new DimsyncError(
      "E_BUNDLE",
      `The bundle ${digest} was pushed by ${typeof content.toolVersion === "string" ? `dimsync ${content.toolVersion}` : "another program"}, and this worker, dimsync ${version}, cannot read its format. Update the worker, or make an earlier bundle the wanted one:`,
      { command: "dimsync controller bundles" },
    );
  const fault = faultOf(content, isLocal);
  if (fault !== undefined)
    throw new DimsyncError(
      "E_BUNDLE",
      `The bundle ${digest} was not made by \`dimsync controller push\`: ${fault}. Push the project again.`,
    );
  if (bundleDigest(content) !== digest)
    throw new DimsyncError("E_BUNDLE", `The bundle ${digest} was changed in the database, so it is not used. Push the project again.`);
  return content;
}

/** Only its shape as JSON is certain. */
function contentOf(packed: Buffer): BundleContent {
  try {
    const text = gunzipText(packed, mostBytes);
    if (text === undefined) throw tooLarge(`more than ${mostBytes} bytes`);
    const content = parseJson(text);
    if (isObject(content)) return content as unknown as BundleContent;
  } catch (error) {
    if (error instanceof DimsyncError) throw error;
  }
  throw new DimsyncError("E_BUNDLE", "The bundle is not compressed JSON. Push the project again.");
}

function faultOf({ files, configFile, vars = {}, varFiles = [], env = {}, folder }: BundleContent, isLocal: boolean): string | undefined {
  const areTexts = [files, vars, env].every((map) => isObject(map) && Object.values(map).every((text) => typeof text === "string"));
  if (!areTexts || !Array.isArray(varFiles)) return "its members have other types";
  const odd = Object.keys(files).find((path) => !isPlainPath(path));
  if (odd !== undefined) return `the path ${JSON.stringify(odd)} is not allowed`;
  const missing = [configFile, ...varFiles].find((path) => !Object.hasOwn(files, path));
  if (missing !== undefined) return `the file ${JSON.stringify(missing)} is missing`;
  const other = Object.keys(env).find((name) => !name.startsWith(variablePrefix));
  if (other !== undefined) return `it sets the environment variable ${JSON.stringify(other)}, which is not a variable of manifests`;
  if (folder !== undefined && !isLocal) return "it names a folder of this machine, which only bundles in an embedded database do";
  return undefined;
}

/** Relative, with "/", inside the folder, and nothing that git or dimsync keep their own files in. */
const isPlainPath = (path: string): boolean =>
  !/[\\\0]/u.test(path) &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !/^\.(?:git|dimsync)$/iu.test(part));
