import { createHash } from "node:crypto";
import { manifestKindNamed, manifestKinds } from "../kinds/index.ts";
import { toAddress } from "../model/address.ts";
import { canonicalJson, isObject, type JsonObject, own } from "../model/json.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { didYouMean } from "../text/suggest.ts";
import type { ValueDocument } from "../yaml/read.ts";
import type { Variables } from "./config/variables.ts";
import { coerceTexts } from "./scalars.ts";
import { type Connectors, connectorProblems } from "./schema/connectors.ts";
import { schemaProblems } from "./schema/validate.ts";
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
  readonly resource?: Resource;
  /** Of the document with variables replaced. */
  readonly digest?: string;
}

export interface ManifestContext {
  readonly variables: Variables;
  readonly connectors: Connectors;
  readonly textLength: number;
}

/** Checks one document and makes a resource of it: variables, secrets, JSON Schema, the connector's schema. */
export function readManifest(
  { value: document, digest, isInert }: ValueDocument,
  place: SourceLocation,
  context: ManifestContext,
): ReadManifest {
  const kind = isObject(document) ? own(document, "kind") : undefined;
  const validator = typeof kind === "string" ? manifestValidators.get(kind) : undefined;
  const effective = makeEffective(document, place, {
    kind: typeof kind === "string" ? kind : undefined,
    variables: context.variables,
    textLength: context.textLength,
    isInert,
  });
  if (typeof kind !== "string" || validator === undefined)
    return { place, problems: [...effective.problems, unknownKind(document, place)] };

  const known = new Set<Pointer>(effective.problems.flatMap((problem) => problem.place?.pointer ?? []));
  let value = effective.value;
  if (!validator(value)) {
    value = coerceTexts(value, validator.errors ?? [], effective.texts) ?? value;
    if (value !== effective.value) validator(value);
  }
  const fromSchema = schemaProblems(validator.errors ?? [], { kind, value, place, replaced: effective.replaced, known });
  const checked = context.connectors.check(kind, value, effective.texts);
  value = checked.value;
  const fromConnector =
    fromSchema.length > 0 ? [] : connectorProblems(checked, { kind, value, place, replaced: effective.replaced, known });

  const metadata = isObject(value) ? own(value, "metadata") : undefined;
  const name = isObject(metadata) ? own(metadata, "name") : undefined;
  const address = typeof name === "string" ? toAddress(kind, name) : undefined;
  const problems = [...effective.problems, ...fromSchema, ...fromConnector].map((problem) =>
    address === undefined ? problem : { ...problem, address },
  );
  const found = {
    kind,
    place,
    problems,
    digest: digest !== undefined && value === document ? digest : documentDigest(canonicalJson(value)),
    ...(typeof name === "string" ? { name } : {}),
  };
  // Without errors the document has the shape that the kind's schema requires.
  return problems.length > 0 ? found : { ...found, resource: toResource(kind, value as unknown as ManifestShape, place) };
}

interface ManifestShape {
  readonly metadata: { readonly name: string; readonly id?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly lifecycle?: { readonly create?: "ifMissing" | "never"; readonly acceptExposureWindow?: string };
  readonly spec?: JsonObject;
}

function toResource(kind: string, { metadata, lifecycle, spec }: ManifestShape, place: SourceLocation): Resource {
  return {
    kind,
    name: metadata.name,
    address: toAddress(kind, metadata.name),
    id: metadata.id,
    labels: metadata.labels ?? {},
    lifecycle: {
      create: lifecycle?.create ?? manifestKindNamed(kind)?.defaultCreate ?? "ifMissing",
      acceptExposureWindow: lifecycle?.acceptExposureWindow ?? "",
    },
    spec: spec ?? {},
    place,
  };
}

function unknownKind(document: unknown, place: SourceLocation): Problem {
  const names = manifestKinds.map(({ name }) => name);
  const problem = (code: string, summary: string, message: string, pointer: Pointer = ""): Problem => ({
    code,
    severity: "error",
    summary,
    message,
    place: { ...place, pointer },
  });
  if (!isObject(document)) {
    return problem(
      "E_WRONG_TYPE",
      "Not a manifest",
      "A manifest must be a map with apiVersion, kind, metadata and spec, but this document is not a map. Remove it, or move it out of the manifests.",
    );
  }
  if (!Object.hasOwn(document, "kind")) {
    return problem(
      "E_MISSING_KEY",
      "Key missing",
      `The document has no \`kind\`, which must be one of ${names.join(", ")}. Move files that are not manifests out of the paths under \`manifests\`.`,
    );
  }
  const kind = own(document, "kind");
  if (typeof kind !== "string")
    return problem("E_WRONG_TYPE", "Value of the wrong type", `\`kind\` must be one of ${names.join(", ")}.`, "/kind");
  if (kind === "Config") {
    return problem(
      "E_UNKNOWN_KIND",
      "Config among the manifests",
      "A document of kind Config is read only as the config file. Pass it with --config, or move it out of the manifests.",
      "/kind",
    );
  }
  return problem(
    "E_UNKNOWN_KIND",
    "Unknown kind",
    `There is no kind ${JSON.stringify(kind)}. The kinds are ${names.join(", ")}.${didYouMean(kind, names)}`,
    "/kind",
  );
}

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/**
 * Of one effective document (variables replaced, `$secret` as references), given as canonical JSON.
 * Independent of the order of keys.
 */
export const documentDigest = (canonicalJson: string | Uint8Array): string => sha256(canonicalJson);

/**
 * "sha256:…" over the effective documents, given by their digests. Independent of file names and of
 * the order of manifests.
 */
export const manifestDigest = (documentDigests: readonly string[]): string => `sha256:${sha256([...documentDigests].sort().join("\n"))}`;
