import { Script } from "node:vm";
import { errorCode } from "../../model/errors.ts";
import { isObject } from "../../model/json/json.ts";
import { type Pointer, toPointer } from "../../model/json/pointer.ts";
import type { ProblemText } from "../../model/problem.ts";
import { cutMiddle } from "../../text/values.ts";

/*
 * Schemas of connectors are part of the repository. A pattern such as ^(a+)+$ takes years for some
 * values, and nested schemas can, too, so a check that takes long is ended.
 */

/** For one value. Less than a second, so that a stop signal is heard within a second. */
export const limitMs = 500;

/** A check did not end in time, or the schema calls itself without end. */
export class SlowSchema extends Error {
  readonly file: string;
  /** The pattern that was tried last, and where in the value it was tried; undefined for another keyword. */
  readonly pattern: string | undefined;
  readonly pointer: Pointer;

  constructor(file: string, pattern: string | undefined, pointer: Pointer) {
    super("slow schema");
    this.file = file;
    this.pattern = pattern;
    this.pointer = pointer;
  }
}

interface Watched {
  pattern: string | undefined;
  text: string;
  /** The schema was slow before: it is not tried again, so that thousands of manifests do not take hours. */
  isSlow: boolean;
}

/** `regExp`: for ajv, instead of RegExp. Notes in `now` what it is trying. */
export function watchedPatterns() {
  const now: Watched = { pattern: undefined, text: "", isSlow: false };
  const make = (pattern: string, flags: string) => {
    const expression = new RegExp(pattern, flags);
    return {
      // ajv keeps one for each text.
      toString: () => String(expression),
      test(text: string) {
        now.pattern = pattern;
        now.text = text;
        const matches = expression.test(text);
        now.pattern = undefined;
        return matches;
      },
    };
  };
  return { now, regExp: Object.assign(make, { code: "new RegExp" }) };
}

/** Throws SlowSchema. */
export function withinLimit(
  check: () => boolean,
  {
    file,
    value,
    patterns: { now },
  }: { readonly file: string; readonly value: unknown; readonly patterns: Pick<ReturnType<typeof watchedPatterns>, "now"> },
): boolean {
  const failed = (): SlowSchema =>
    new SlowSchema(file, now.pattern, now.pattern === undefined ? "" : toPointer(pathTo(value, now.text) ?? []));
  if (now.isSlow) throw failed();
  const result = endingInTime(check);
  if (result !== undefined) return result;
  now.isSlow = true;
  throw failed();
}

/** The result of a check of what the repository contains; undefined if it does not end in time, or calls itself without end. */
export function endingInTime(check: () => boolean): boolean | undefined {
  const key = Symbol.for("dimsync.check");
  try {
    Reflect.set(globalThis, key, check);
    // Code that vm runs can be ended, also inside a regular expression.
    return limited.runInThisContext({ timeout: limitMs }) === true;
  } catch (error) {
    const isSlow = error instanceof RangeError || errorCode(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    if (!isSlow) throw error;
    return undefined;
  } finally {
    Reflect.deleteProperty(globalThis, key);
  }
}

const limited = new Script('globalThis[Symbol.for("dimsync.check")]()');

/** Where a text is in a value: as a string, or as the name of a member. */
function pathTo(value: unknown, text: string): readonly string[] | undefined {
  if (value === text) return [];
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = key === text ? [] : pathTo(member, text);
    if (found !== undefined) return [key, ...found];
  }
  return undefined;
}

export const slowProblem = ({ file, pattern }: SlowSchema): ProblemText => ({
  code: "E_SLOW_SCHEMA",
  message:
    pattern === undefined
      ? `The check against ${file} did not end within ${limitMs} ms. Simplify the schema: a $ref must not lead back to itself without a new value.`
      : `The pattern ${JSON.stringify(cutMiddle(pattern, 200))} in ${file} took longer than ${limitMs} ms for this value. Avoid repetitions inside repetitions, such as (a+)+, in the pattern.`,
});
