/** A project as it was pushed. Its digest is the sha256 of its canonical JSON. Contains secret references, never values. */
export interface BundleContent {
  readonly format: 1;
  readonly source: string;
  readonly toolVersion: string;
  /** Absent outside a git repository. */
  readonly commit?: string;
  /** Path of the config within `files`. */
  readonly configFile: string;
  /** Text by path, relative to the project's folder: config, variables, manifests, connector schemas and policy modules. */
  readonly files: Readonly<Record<string, string>>;
}

/** The files of a bundle, by path. */
export const bundleFiles = ({ files }: BundleContent): readonly { readonly path: string; readonly text: string }[] =>
  Object.entries(files).map(([path, text]) => ({ path, text }));
