import { createHash } from "node:crypto";
import { toAddress } from "../base/model/address.ts";
import { canonicalJson, isObject, type JsonObject, type JsonValue, memberAt, own } from "../base/model/json/json.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { type Problem, problemAt, type SourceLocation } from "../base/model/problem.ts";
import type { Code } from "../base/model/titles.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { ValueDocument } from "../base/yaml/read.ts";
import { manifestKindNamed, manifestKinds } from "../kinds/index.ts";
import type { Variables } from "./config/variables.ts";
import { validateEffective } from "./schema/validate.ts";
import { makeEffective } from "./substitute.ts";
import { manifestValidators } from "./validators.generated.js";

/**
 * The result for one document. `kind` and `name` are set even if the rest has errors, so that
 * references to it are not reported as unknown.
 */
export interface ReadManifest {
  readonly kind?: string;
  readonly name?: string;
  readonly place: SourceLocation;
  readonly problems: readonly Problem[];
  /** Present if there is no error. */
  readonly manifest?: Manifest;
  /** The document with variables replaced, which the digest covers. */
  readonly effective?: JsonValue;
}

interface ManifestContext {
  /** The target of the run. */
  readonly target: string;
  readonly variables: Variables;
  readonly textLength: number;
}

/** Checks one document and reads the manifest in it: variables, secrets, JSON Schema. */
export function readManifest(document: ValueDocument, place: SourceLocation, context: ManifestContext): ReadManifest {
  const { value: written, isInert } = document;
  const { variables, textLength, target } = context;
  const found = memberAt(written, "kind");
  const kind = typeof found === "string" ? found : undefined;
  const effective = makeEffective(written, place, { kind, variables, textLength, isInert });
  const validator = kind === undefined ? undefined : manifestValidators.get(kind);
  if (kind === undefined || validator === undefined) return { place, problems: [...effective.problems, unknownKind(written, place)] };
  const checked = validateEffective(validator, effective, { kind, place });
  const problems = [...effective.problems, ...checked.problems];
  return manifestOf(kind, checked.value, { place, problems, target });
}

function manifestOf(
  kind: string,
  value: JsonValue,
  { place, problems, target }: Pick<ReadManifest, "place" | "problems"> & Pick<ManifestContext, "target">,
): ReadManifest {
  const name = memberAt(value, "metadata", "name");
  const named = typeof name === "string" ? { name, address: toAddress(kind, name) } : undefined;
  const found = {
    kind,
    place,
    problems: problems.map((problem) => (named === undefined ? problem : { ...problem, address: named.address })),
    effective: value,
    ...(named === undefined ? {} : { name: named.name }),
  };
  // Without errors the document has the shape that the kind's schema requires.
  return problems.length > 0 ? found : { ...found, manifest: toManifest(kind, value as unknown as ManifestShape, { place, target }) };
}

interface ManifestShape {
  readonly metadata: {
    readonly name: string;
    readonly id?: string | Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly targets?: readonly string[];
  };
  readonly lifecycle?: { readonly create?: "ifMissing" | "never" };
  readonly spec?: JsonObject;
}

function toManifest(
  kind: string,
  { metadata, lifecycle, spec }: ManifestShape,
  { place, target }: Pick<ReadManifest, "place"> & Pick<ManifestContext, "target">,
): Manifest {
  const { id, targets } = metadata;
  return {
    kind,
    name: metadata.name,
    address: toAddress(kind, metadata.name),
    id: typeof id === "object" ? own(id, target) : id,
    ...(targets === undefined ? {} : { targets }),
    labels: metadata.labels ?? {},
    lifecycle: {
      create: lifecycle?.create ?? manifestKindNamed(kind)?.defaultCreate ?? "ifMissing",
    },
    spec: spec ?? {},
    place,
  };
}

function unknownKind(document: unknown, place: SourceLocation): Problem {
  const [code, message] = whyNoKind(document);
  const pointer = isObject(document) && Object.hasOwn(document, "kind") ? "/kind" : "";
  return problemAt({ ...place, pointer }, { code, message });
}

function whyNoKind(document: unknown): readonly [code: Code, message: string] {
  const names = manifestKinds.map(({ name }) => name);
  if (!isObject(document))
    return [
      "E_WRONG_TYPE",
      "A manifest must be a map with apiVersion, kind, metadata and spec, but this document is not a map. Remove it, or move it out of the manifests.",
    ];
  if (!Object.hasOwn(document, "kind"))
    return [
      "E_MISSING_KEY",
      `The document has no \`kind\`, which must be one of ${names.join(", ")}. Move files that are not manifests out of the paths under \`manifests\`.`,
    ];
  const kind = own(document, "kind");
  if (typeof kind !== "string") return ["E_WRONG_TYPE", `\`kind\` must be one of ${names.join(", ")}.`];
  if (kind === "Config")
    return [
      "E_UNKNOWN_KIND",
      "A document of kind Config is read only as the config file. Pass it with --config, or move it out of the manifests.",
    ];
  return ["E_UNKNOWN_KIND", `There is no kind ${JSON.stringify(kind)}. The kinds are ${names.join(", ")}.${didYouMean(kind, names)}`];
}

const sha256 = (data: string): string => createHash("sha256").update(data).digest("hex");

/**
 * "sha256:…" over documents with variables replaced and `$secret` as references. Independent of file names, and of the order of
 * manifests and keys.
 */
export const manifestDigest = (documents: readonly JsonValue[]): string =>
  `sha256:${sha256(
    documents
      .map((document) => sha256(canonicalJson(document)))
      .sort()
      .join("\n"),
  )}`;
