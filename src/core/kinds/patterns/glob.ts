import { addAll } from "../../base/model/maps.ts";
// Globs within one name: `*` any letters, `?` one letter, `[a-z]` and `[!a-z]` one of or none of,
// `{a,b}` either, `\` escapes the next letter. Dots and slashes are ordinary letters, also at the
// start, because a name is not a path. Brackets and braces that are not closed (`[ab`, `{a,b`) and
// braces without a comma are ordinary letters, as in a shell: tables with such names exist, and a
// pattern that then matches nothing is reported.
//
// A glob becomes a small program that runs all possibilities at once, one letter of the name at a
// time (Thompson's simulation). A regular expression would try them one after the other, which
// takes exponential time for `*a*a*a*a*b` and a long name. Here the time is at most the length of
// the program times the length of the name, and braces are not multiplied out.

/** A compiled glob. `literal` is the only text that it matches, if it has no special characters. */
export interface Glob {
  readonly literal: string | undefined;
  readonly matches: (name: string) => boolean;
}

type Token =
  | { readonly type: "letter"; readonly letter: string }
  | { readonly type: "any" }
  | { readonly type: "star" }
  | { readonly type: "class"; readonly accepts: (letter: string) => boolean }
  | { readonly type: "brace"; readonly sign: "{" | "," | "}" };

type Step =
  | { readonly op: "letter"; readonly letter: string }
  | { readonly op: "class"; readonly accepts: (letter: string) => boolean }
  | { readonly op: "star" }
  /** Continues at each of these without reading a letter. */
  | { readonly op: "fork"; readonly to: number[] }
  | { readonly op: "end" };

/**
 * Letters whose lower case has several letters are kept, so that folding never changes the length.
 */
export function foldLetter(letter: string): string {
  const small = letter.toLowerCase();
  return small.length === letter.length ? small : letter;
}

/** The upper case; of a letter whose upper case has several letters (ß), the letter itself. */
function capital(letter: string): string {
  const large = letter.toUpperCase();
  return large.length === letter.length ? large : letter;
}

/** Only printable ASCII: then letters are code units. */
export const isAscii = (text: string): boolean => !/[^ -~]/u.test(text);

/** NFC: sources write "é" as one character or as two, and patterns match both. */
export const composed = (text: string): string => (isAscii(text) ? text : text.normalize());

export const foldText = (text: string): string => (isAscii(text) ? text.toLowerCase() : Array.from(text, foldLetter).join(""));

/**
 * Without one of these a pattern is a literal: closing signs and commas have no meaning on their
 * own.
 */
const opensSomething = /[*?[{\\]/;

export function compileGlob(pattern: string, ignoreCase = false): Glob {
  if (!opensSomething.test(pattern)) return literalGlob(pattern, ignoreCase);
  const tokens = resolveBraces(tokenise(Array.from(pattern), ignoreCase));
  const fold = ignoreCase ? foldLetter : (letter: string): string => letter;
  const letters = tokens.flatMap((token) => (token.type === "letter" ? [token.letter] : []));
  if (letters.length === tokens.length) return literalGlob(letters.join(""), ignoreCase);
  const parts = [""];
  for (const token of tokens)
    if (token.type === "star") parts.push("");
    else if (token.type === "letter") parts.push(parts.pop() + token.letter);
  if (letters.length + parts.length - 1 === tokens.length && parts.every(isAscii)) return starGlob(parts, ignoreCase);
  const program = assemble(tokens, fold);
  return { literal: undefined, matches: (name) => run(program, name, fold) };
}

function literalGlob(literal: string, ignoreCase: boolean): Glob {
  if (!ignoreCase) return { literal, matches: (name) => name === literal };
  const folded = foldText(literal);
  return { literal, matches: (name) => foldText(name) === folded };
}

/** `email_*`, `*_id`, `*email*`, `*`: nearly all globs. Each part between stars is found where it comes first. */
function starGlob(parts: readonly string[], ignoreCase: boolean): Glob {
  const fold = ignoreCase ? foldText : (text: string): string => text;
  const [head = "", ...others] = parts.map(fold);
  const tail = others.pop() ?? "";
  const matches = (name: string): boolean => {
    const text = fold(name);
    const end = text.length - tail.length;
    if (head.length > end || !text.startsWith(head) || !text.endsWith(tail)) return false;
    let at = head.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
  return { literal: undefined, matches };
}

function tokenise(letters: readonly string[], ignoreCase: boolean): readonly Token[] {
  const tokens: Token[] = [];
  const lastClosing = letters.lastIndexOf("]");
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    const next = letters[at + 1];
    if (letter === "\\" && next !== undefined) {
      tokens.push({ type: "letter", letter: next });
      at++;
    } else if (letter === "*") {
      if (tokens.at(-1)?.type !== "star") tokens.push({ type: "star" });
    } else if (letter === "?") tokens.push({ type: "any" });
    else if (letter === "{" || letter === "," || letter === "}") tokens.push({ type: "brace", sign: letter });
    else {
      const read = letter === "[" && at < lastClosing ? readClass(letters, at, ignoreCase) : undefined;
      tokens.push(read?.token ?? { type: "letter", letter });
      at = read?.end ?? at;
    }
  }
  return tokens;
}

/**
 * `[a-z_]`, `[!a-z]` or `[^a-z]`; a closing bracket that comes first is a member. Undefined if it
 * is not closed.
 */
function readClass(
  letters: readonly string[],
  start: number,
  ignoreCase: boolean,
): { readonly token: Token; readonly end: number } | undefined {
  const negated = letters[start + 1] === "!" || letters[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  const ranges: (readonly [from: string, to: string])[] = [];
  let at = first;
  const member = (): string => {
    if (letters[at] === "\\" && at + 1 < letters.length) at++;
    return letters[at++] ?? "";
  };
  while (at < letters.length && (letters[at] !== "]" || at === first)) {
    const from = member();
    const isRange = letters[at] === "-" && at + 1 < letters.length && letters[at + 1] !== "]";
    if (isRange) at++;
    const to = isRange ? member() : from;
    if (rank(from) <= rank(to)) ranges.push([from, to]);
    else ranges.push([from, from], ["-", "-"], [to, to]);
  }
  if (at >= letters.length) return undefined;
  const holds = (letter: string): boolean => ranges.some(([from, to]) => rank(from) <= rank(letter) && rank(letter) <= rank(to));
  const accepts = (letter: string): boolean =>
    (holds(letter) || (ignoreCase && (holds(foldLetter(letter)) || holds(capital(letter))))) !== negated;
  return { token: { type: "class", accepts }, end: at };
}

const rank = (letter: string): number => letter.codePointAt(0) ?? -1;

/**
 * Braces that are not closed, or have no comma between them, become letters, and so do commas
 * outside braces.
 */
function resolveBraces(tokens: readonly Token[]): readonly Token[] {
  const open: { readonly at: number; readonly commas: number[] }[] = [];
  const isSign = new Set<number>();
  tokens.forEach((token, at) => {
    if (token.type !== "brace") return;
    if (token.sign === "{") open.push({ at, commas: [] });
    else if (token.sign === ",") open.at(-1)?.commas.push(at);
    else {
      const pair = open.pop();
      if (pair !== undefined && pair.commas.length > 0) for (const sign of [pair.at, ...pair.commas, at]) isSign.add(sign);
    }
  });
  return tokens.map((token, at) => (token.type === "brace" && !isSign.has(at) ? { type: "letter", letter: token.sign } : token));
}

function assemble(tokens: readonly Token[], fold: (letter: string) => string): readonly Step[] {
  const program: Step[] = [];
  const open: { readonly fork: number[]; readonly ends: number[][] }[] = [];
  for (const token of tokens) {
    if (token.type === "letter") program.push({ op: "letter", letter: fold(token.letter) });
    else if (token.type === "any") program.push({ op: "class", accepts: () => true });
    else if (token.type !== "brace") program.push(token.type === "star" ? { op: "star" } : { op: "class", accepts: token.accepts });
    else if (token.sign === "{") {
      const fork = [program.length + 1];
      program.push({ op: "fork", to: fork });
      open.push({ fork, ends: [] });
    } else {
      // The end of an alternative jumps past the closing brace, which is known only there.
      const end: number[] = [];
      program.push({ op: "fork", to: end });
      const brace = open.at(-1);
      brace?.ends.push(end);
      if (token.sign === ",") brace?.fork.push(program.length);
      else for (const jump of open.pop()?.ends ?? []) jump.push(program.length);
    }
  }
  program.push({ op: "end" });
  return program;
}

function run(program: readonly Step[], name: string, fold: (letter: string) => string): boolean {
  const enteredIn = new Uint32Array(program.length);
  let round = 1;
  let states: number[] = [];
  const enter = (start: number, into: number[]): void => {
    const todo = [start];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      if (enteredIn[at] === round) continue;
      enteredIn[at] = round;
      const step = program[at];
      if (step?.op === "fork") addAll(todo, step.to);
      else into.push(at);
      if (step?.op === "star") todo.push(at + 1);
    }
  };
  enter(0, states);
  for (const letter of name) {
    round++;
    const folded = fold(letter);
    const next: number[] = [];
    for (const at of states) {
      const step = program[at];
      if (step?.op === "star") enter(at, next);
      else if (step?.op === "letter" ? step.letter === folded : step?.op === "class" && step.accepts(letter)) enter(at + 1, next);
    }
    if (next.length === 0) return false;
    states = next;
  }
  return states.includes(program.length - 1);
}
