import type { JsonValue } from "../../base/model/json/json.ts";
import { fromPointer, type Pointer } from "../../base/model/json/pointer.ts";
import { type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { isSecretMember } from "../secrets/secret-members.ts";
import type { Effective } from "../substitute.ts";
import { schemaNamed, type Validator } from "../validators.generated.js";
import { schemaParts } from "./lookup.ts";
import { type SchemaError, type SchemaProblem, schemaProblem } from "./messages.ts";

interface SchemaContext {
  /** Kind of the document; also the schema's name. */
  readonly kind: string;
  readonly value: unknown;
  readonly place: SourceLocation;
  /** Locations with a variable's value: it may come from the environment, and is not quoted. */
  readonly replaced: ReadonlySet<Pointer>;
  /** Locations whose value already has a problem: no further problem is reported there. */
  readonly known: ReadonlySet<Pointer>;
  /**
   * The location of the part that the schema describes, if it describes only a part of the
   * document.
   */
  readonly base?: Pointer;
  /** Another schema than the kind's own. */
  readonly schema?: unknown;
}

/** A document after its check against the schema of its kind. */
interface ValidatedDocument {
  readonly value: JsonValue;
  readonly errors: readonly SchemaError[];
  readonly problems: readonly Problem[];
  readonly context: SchemaContext;
}

/** Checks a document whose variables are replaced against the schema of its kind. */
export function validateEffective(
  validator: Validator,
  { value, problems, replaced }: Effective,
  about: Pick<SchemaContext, "kind" | "place">,
): ValidatedDocument {
  const errors = validator(value) ? [] : (validator.errors ?? []);
  const known = new Set<Pointer>(problems.flatMap(({ place }) => place?.pointer ?? []));
  const context: SchemaContext = { ...about, value, replaced, known };
  return { value, errors, context, problems: schemaProblems(errors, context) };
}

/** ajv's errors as problems: the most specific one for each location. */
function schemaProblems(errors: readonly SchemaError[], context: SchemaContext): readonly Problem[] {
  const { kind, base = "" } = context;
  let schema = context.schema;
  const best = new Map<string, SchemaProblem>();
  for (const error of errors) {
    const problem = schemaProblem(base === "" ? error : { ...error, instancePath: base + error.instancePath }, {
      kind,
      value: context.value,
      isReplaced: (pointer) => context.replaced.has(pointer),
      mayQuote: (pointer) => !context.replaced.has(pointer) && !isSecretPlace(kind, pointer),
      partsAt: (pointer) => {
        schema ??= schemaNamed(kind);
        return schemaParts(schema, pointer.slice(base.length));
      },
    });
    if (problem === undefined || (problem.on === "value" && context.known.has(problem.pointer))) continue;
    // Each missing key of a map is reported: the user has to add all of them.
    const slot = error.keyword === "required" ? `${problem.pointer} ${String(error.params["missingProperty"])}` : problem.pointer;
    const found = best.get(slot);
    if (found === undefined || problem.rank < found.rank) best.set(slot, problem);
  }
  const found = [...best.values()];
  // A misspelt key is one problem, not an unknown and a missing key. A missing key is more specific
  // than the number of keys.
  const suggested = new Set(found.flatMap((problem) => problem.suggested ?? []));
  const isRepeated = ({ pointer, rank, missing = [] }: SchemaProblem) =>
    missing.some((key) => suggested.has(key)) || (rank === 3 && found.some((other) => other.rank === 2 && other.pointer === pointer));
  return found
    .filter((problem) => !isRepeated(problem))
    .map(({ code, message, pointer, on }) => problemAt({ ...context.place, pointer, on }, { code, message }));
}

function isSecretPlace(kind: string, pointer: Pointer): boolean {
  const segments = fromPointer(pointer);
  return segments.some((segment, index) => segment === "$secret" || isSecretMember(kind, segments.slice(0, index), segment));
}
