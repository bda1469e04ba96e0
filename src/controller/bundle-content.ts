import { createHash } from "node:crypto";
import { canonicalJson } from "../model/json/json.ts";

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
  /** Text by path, relative to the project's folder: config, variables, manifests, connector schemas and policy modules. */
  readonly files: Readonly<Record<string, string>>;
  /** `--var` of the push. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Paths within `files`, in the order of `--var-file`. */
  readonly varFiles?: readonly string[];
  /** The environment variables that the files refer to with `${env.NAME}`, and DIMSYNC_VAR_*, as they were at the push. */
  readonly env?: Readonly<Record<string, string>>;
  /** With the embedded database: the project's folder on this machine, whose records are used. */
  readonly folder?: string;
}

/** "sha256:…": the same project has the same digest. */
export const bundleDigest = (content: BundleContent): string =>
  `sha256:${createHash("sha256").update(canonicalJson(content)).digest("hex")}`;

/** The files of a bundle, by path. */
export const bundleFiles = ({ files }: BundleContent): readonly { readonly path: string; readonly text: string }[] =>
  Object.entries(files).map(([path, text]) => ({ path, text }));
