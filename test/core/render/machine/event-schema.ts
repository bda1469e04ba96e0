import { readFileSync } from "node:fs";

type Schema = Readonly<Record<string, unknown>>;
const read = (name: string): Schema => JSON.parse(readFileSync(new URL(`../../../../schema/${name}.schema.json`, import.meta.url), "utf8"));

const lists = [
  "items",
  "manual",
  "blocked",
  "deferred",
  "held",
  "unverifiable",
  "notKept",
  "loosened",
  "released",
  "impact",
  "newColumns",
  "goneColumns",
  "neverReviewed",
  "seenColumns",
  "policy",
  "guards",
  "diagnostics",
];
const text = (description: string): Schema => ({ type: "string", description });
const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const to = (name: string): Schema => ({ $ref: `#/definitions/${name}` });

/** The member of each event beside `formatVersion`, `event` and `target`. */
const findings: Readonly<Record<string, readonly [definition: string, description: string]>> = {
  item: ["item", "A planned item, or a difference."],
  outcome: ["itemResult", "The outcome of an item."],
  manual: ["manual", "A difference that a user must resolve."],
  blocked: ["blocked", "An item that is blocked."],
  deferred: ["deferred", "Items that wait for an object that the same apply creates."],
  held: ["held", "Changes of an object that --protect-only does not send."],
  unverifiable: ["unverifiable", "Declared values that the service never returns."],
  notKept: ["notKept", "A declared value that the service does not keep."],
  loosened: ["loosened", "One thing that the manifests give up since the base."],
  released: ["released", "A live object that lost its manifest."],
  impact: ["impact", "Who reads a column that changes, by dbt."],
  newColumn: ["newColumn", "A live column that nobody has reviewed."],
  goneColumn: ["goneColumn", "A reviewed column that the account no longer has."],
  neverReviewed: ["neverReviewed", "An integration that the catalog does not have."],
  policy: ["policyFinding", "A policy that is violated."],
  guard: ["guardFinding", "A guard that refuses the plan, or that was lifted."],
  diagnostic: ["diagnostic", "A problem in the manifests or with reading the account."],
};

/** A document without its lists, whose entries are separate events. */
function rest(name: string): Schema {
  const { $schema: _dialect, $id: _id, definitions: _definitions, properties, required, ...body } = read(name);
  const kept = Object.entries(properties as Schema).filter(([key]) => !lists.includes(key));
  return {
    ...body,
    required: (required as readonly string[]).filter((key) => !lists.includes(key)),
    properties: Object.fromEntries(kept),
  };
}

function event(name: string, description: string, members: Schema, optional: readonly string[] = []): Schema {
  return {
    title: `Event ${name}`,
    description,
    type: "object",
    additionalProperties: false,
    required: ["formatVersion", "event", ...Object.keys(members).filter((key) => !optional.includes(key))],
    properties: {
      formatVersion: { const: "2.0", description: "Version of the format. A higher minor version only adds members." },
      event: { const: name, description: "Kind of the event." },
      ...members,
    },
  };
}

const target = text("Name of the target.");

const definitionsOf = (name: string): Schema => read(name)["definitions"] as Schema;
const ofEither = (definition: string): Schema => ({
  description: (definitionsOf("plan")[definition] as Schema)["description"],
  anyOf: [definitionsOf("plan")[definition], definitionsOf("drift")[definition]],
});

/** schema/event.schema.json, which consists of the schemas of the documents. */
export function eventSchema(): Schema {
  const progress = event(
    "progress",
    "Progress of a phase.",
    {
      at: { type: "string", format: "date-time", description: "Time, ISO 8601." },
      step: { enum: ["phase", "step"], description: "Whether a phase starts, or one of its steps is done." },
      phase: {
        enum: ["read", "columns", "plan", "apply", "wait"],
        description: "The phase. columns: reading the columns of tables, one by one.",
      },
      round: count("phase: the round of an apply, from 1."),
      done: count("step: how many steps are done."),
      total: count("How many there are, if known."),
      label: text("step: name of the step."),
    },
    ["round", "done", "total", "label"],
  );
  const found = Object.entries(findings).map(([name, [definition, description]]) =>
    event(name, description, { target, [name]: to(definition) }, name === "diagnostic" ? ["target"] : []),
  );
  const end = event(
    "end",
    "The last event about a target: the remaining members of the document.",
    { target, document: { anyOf: ["plan", "drift", "result", "validation"].map(rest), description: "The document without its lists." } },
    ["target"],
  );
  const error = event("error", "Sent instead of `end` if the command failed before it had a document.", {
    code: text("Diagnostic code."),
    message: text("What is wrong, and what to do."),
    exit: { type: "integer", description: "The exit code." },
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "https://unpkg.com/dimsync@0/schema/event.schema.json",
    title: "Event",
    description: "One line of `-o ndjson`: progress while a command runs, the findings, and one `end` for each target.",
    anyOf: [progress, ...found, end, error],
    // The definitions of a drift report are those of a plan with origin and attribution. Only the words for risks differ.
    definitions: {
      ...definitionsOf("result"),
      ...definitionsOf("drift"),
      loosened: definitionsOf("plan")["loosened"],
      released: definitionsOf("plan")["released"],
      change: ofEither("change"),
      manual: ofEither("manual"),
      summary: ofEither("summary"),
    },
  };
}
