import { addAll } from "../model/maps.ts";

// Which names a column has in the result of a query, as far as the text shows. Not a parser of any SQL dialect: it follows
// select lists, CTEs, subqueries and `select *`, and reads everything else as words. What it finds is evidence, not proof.

/** Names in lower case. */
type Names = ReadonlySet<string>;

/** How a query reads a column. */
interface ColumnUse {
  /** "mentions": a name of the column is in the text; "mayRead": only `select *` reaches it; undefined: neither. */
  readonly use: "mentions" | "mayRead" | undefined;
  /** The names under which the result may contain it. */
  readonly names: Names;
}

const jinjaOrSql =
  /\{#[\s\S]*?(?:#\}|$)|\{%[\s\S]*?(?:%\}|$)|\{\{\s*(?:ref|source)\s*\(([^)]*)\)[^}]*\}\}|\{\{([\s\S]*?)(?:\}\}|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/gu;
const tokenPattern = /'(?:[^']|'')*(?:'|$)|"([^"]*)(?:"|$)|`([^`]*)(?:`|$)|([\p{L}_][\p{L}\p{N}_$]*)|([(),*.])/gu;

/** The words and signs of a query in lower case, without comments and string literals. `isPython`: strings can name columns. */
export function sqlTokens(sql: string, isPython = false): readonly string[] {
  const text = isPython
    ? sql.replaceAll(/['"]/gu, " ")
    : sql.replaceAll(jinjaOrSql, (_, relation?: string, expression?: string) =>
        relation === undefined ? ` ${(expression ?? "").replaceAll(/['"]/gu, " ")} ` : ` "${relationName(relation)}" `,
      );
  const tokens: string[] = [];
  for (const [, quoted, ticked, word, sign] of text.matchAll(tokenPattern)) {
    const token = quoted ?? ticked?.split(".").at(-1) ?? word ?? sign;
    if (token !== undefined && token !== "") tokens.push(token.toLowerCase());
  }
  return isPython ? tokens : withoutEphemeral(tokens);
}

const ephemeral = /^__dbt__cte__/u;

/** Compiled SQL has ephemeral models as CTEs. They are nodes of their own, so their queries are left out, and references name the models. */
function withoutEphemeral(tokens: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? "";
    if (ephemeral.test(token) && tokens[index + 1] === "as" && tokens[index + 2] === "(") index = closing(tokens, index + 2);
    else kept.push(token.replace(ephemeral, ""));
  }
  return kept;
}

/** The index of the parenthesis that closes the one at `start`. */
function closing(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    depth += tokens[index] === "(" ? 1 : tokens[index] === ")" ? -1 : 0;
    if (depth === 0) return index;
  }
  return tokens.length;
}

/** "customers" of `'shop', 'customers'` and of `'stg_customers', v=2`. */
const relationName = (arguments_: string): string => [...arguments_.matchAll(/['"]([^'"]*)['"]/gu)].at(-1)?.[1] ?? "";

interface Word {
  readonly name: string;
  /** "c" of `c.email`. */
  readonly of: string | undefined;
}

interface SelectItem {
  readonly words: Word[];
  /** The item at the same place of the first select, if UNION adds this one: it names the column of the result. */
  readonly first: SelectItem | undefined;
  isStar: boolean;
  /** "c" of `c.*`. */
  starOf?: string | undefined;
}

/** One select statement, with those that UNION adds to it. */
interface Query {
  /** Set if it is a CTE. */
  readonly cte: string | undefined;
  readonly items: SelectItem[];
  /** How many items the select has so far, and the first one. */
  place: number;
  firstSelect: SelectItem[] | undefined;
  readonly others: Word[];
  /** Words of subqueries with an alias that the subquery does not have. */
  readonly outer: Word[];
  readonly input: Set<string>;
  /** What relations contain, by their aliases and names. */
  readonly aliases: Map<string, Names>;
  /** Of the relation that was just read: an alias may follow. */
  unnamed: Names | undefined;
  clause: "select" | "from" | "other";
  /** Open parentheses that do not begin a query. */
  depth: number;
  expectsRelation: boolean;
}

const newQuery = (cte?: string): Query => ({
  cte,
  items: [],
  place: 0,
  firstSelect: undefined,
  others: [],
  outer: [],
  input: new Set(),
  aliases: new Map(),
  unnamed: undefined,
  clause: "other",
  depth: 0,
  expectsRelation: false,
});

const endOfFrom: ReadonlySet<string> = new Set(["where", "group", "order", "having", "qualify", "limit", "window", "union", "on", "using"]);
/** What can follow a relation and is not an alias. */
const afterRelation: ReadonlySet<string> = new Set([
  ...endOfFrom,
  ...["join", "left", "right", "inner", "full", "outer", "cross", "natural", "lateral", "intersect", "except", "minus", "tablesample"],
]);
const starExceptions: ReadonlySet<string> = new Set(["except", "exclude"]);

/** What a query does with a column that its relations contain under these names. */
export function columnUse(tokens: readonly string[], relations: ReadonlyMap<string, Names>): ColumnUse {
  const ctes = new Map<string, Names>();
  let isMentioned = false;
  const close = (query: Query): Names => {
    const { names, mentions } = resultOf(query);
    isMentioned ||= mentions;
    if (query.cte !== undefined) ctes.set(query.cte, new Set([...(ctes.get(query.cte) ?? []), ...names]));
    return names;
  };
  const open: Query[] = [newQuery()];
  for (const [index, token] of tokens.entries()) {
    const query = open.at(-1) ?? newQuery();
    const next = tokens[index + 1];
    if (token === "(" && (next === "select" || next === "with")) open.push(newQuery(cteName(tokens, index)));
    else if (token === ")" && query.depth === 0 && open.length > 1) {
      open.pop();
      const names = close(query);
      addAll(open.at(-1)?.outer ?? [], unresolved(query));
      if (query.cte === undefined) addSubquery(open.at(-1), names);
    } else
      readToken(
        query,
        { token, next, before: tokens[index - 1], of: tokens[index - 2] },
        (relation) => ctes.get(relation) ?? relations.get(relation),
      );
  }
  const results = open.reverse().map(close);
  const names = new Set(results.flatMap((one) => [...one]));
  if (isMentioned) return { use: "mentions", names };
  if (names.size > 0) return { use: "mayRead", names };
  // A layout that is not followed, such as a macro around the query: the words alone count.
  const known = new Set([...relations.values()].flatMap((one) => [...one]));
  const reads = ctes.size === 0 && open.every(({ input }) => input.size === 0);
  const mentioned = new Set(reads ? tokens.filter((token) => known.has(token)) : []);
  return { use: mentioned.size > 0 ? "mentions" : undefined, names: mentioned };
}

/** `customers` of `with customers as (`, and of `as materialized (`. */
function cteName(tokens: readonly string[], parenthesis: number): string | undefined {
  const as = tokens[parenthesis - 1] === "materialized" ? parenthesis - 2 : parenthesis - 1;
  return tokens[as] === "as" ? tokens[as - 1] : undefined;
}

/** In a select list, a subquery is a value; elsewhere it is a relation. */
function addSubquery(query: Query | undefined, names: Names): void {
  if (query === undefined) return;
  for (const name of names) query.input.add(name);
  if (query.clause === "select")
    addAll(
      query.items.at(-1)?.words ?? [],
      [...names].map((name) => ({ name, of: undefined })),
    );
  else query.unnamed = names;
  query.expectsRelation = false;
}

interface Place {
  readonly token: string;
  readonly before: string | undefined;
  readonly next: string | undefined;
  /** The token before the one before: the alias, after a dot. */
  readonly of: string | undefined;
}

function readToken(query: Query, place: Place, namesIn: (relation: string) => Names | undefined): void {
  const { token, before, next } = place;
  const { unnamed } = query;
  if (token !== "as") query.unnamed = undefined;
  if (token === "(") query.depth++;
  else if (token === ")") query.depth = Math.max(0, query.depth - 1);
  else if (query.depth > 0) addWord(query, place);
  else if (unnamed !== undefined && token !== "as" && /^[\p{L}_]/u.test(token) && !afterRelation.has(token))
    addAlias(query, token, unnamed);
  else if (token === "select") {
    query.clause = "select";
    query.place = 0;
    query.firstSelect = query.items.length === 0 ? undefined : (query.firstSelect ?? [...query.items]);
    addItem(query);
  } else if (token === "from" || token === "join") {
    query.clause = "from";
    query.expectsRelation = true;
  } else if (token === ",") {
    if (query.clause === "select") addItem(query);
    query.expectsRelation = query.clause === "from";
  } else if (token === "*") {
    const item = query.items.at(-1);
    if (item !== undefined && query.clause === "select" && ["select", "distinct", ",", "."].includes(before ?? "")) {
      item.isStar = true;
      if (before === ".") item.starOf = place.of;
    }
  } else if (query.expectsRelation && token !== "." && next !== ".") {
    const names = namesIn(token) ?? noNames;
    for (const name of names) query.input.add(name);
    // What a table function returns is not followed.
    if (next !== "(") {
      query.unnamed = names;
      addAlias(query, token, names);
    }
    query.expectsRelation = false;
  } else if (query.clause === "from" && endOfFrom.has(token)) query.clause = "other";
  else if (!query.expectsRelation) addWord(query, place);
  // The macro of dbt_utils.
  const item = query.items.at(-1);
  if (token === "star" && next === "(" && query.clause === "select" && item !== undefined) item.isStar = true;
}

const noNames: Names = new Set();

function addItem(query: Query): void {
  query.items.push({ words: [], isStar: false, first: query.firstSelect?.[query.place] });
  query.place++;
}

/** UNION can use an alias again for another relation: it then stands for both. */
const addAlias = ({ aliases }: Query, alias: string, names: Names): void =>
  void aliases.set(alias, new Set([...(aliases.get(alias) ?? []), ...names]));

function addWord(query: Query, { token, before, of }: Place): void {
  if (/^[.,*]$/u.test(token)) return;
  const word: Word = { name: token, of: before === "." ? of : undefined };
  if (query.clause === "select") query.items.at(-1)?.words.push(word);
  else query.others.push(word);
}

/** Words that are about a relation of an outer query, if about any. */
const unresolved = ({ items, others, outer, aliases }: Query): readonly Word[] =>
  [...items.flatMap(({ words }) => words), ...others, ...outer].filter(({ of }) => of !== undefined && !aliases.has(of));

function resultOf({ items, others, outer, input, aliases }: Query): { readonly names: Names; readonly mentions: boolean } {
  const names = new Set<string>();
  const namesOf = (alias: string | undefined): Names => aliases.get(alias ?? "") ?? input;
  const isRead = ({ name, of }: Word): boolean => namesOf(of).has(name);
  let mentions = others.some(isRead) || outer.some(({ name, of = "" }) => aliases.get(of)?.has(name) === true);
  for (const { words, isStar, starOf, first } of items) {
    const exception = isStar ? words.findIndex(({ name }) => starExceptions.has(name)) : -1;
    const read = exception < 0 ? words : words.slice(0, exception);
    const without = new Set(exception < 0 ? [] : words.slice(exception).map(({ name }) => name));
    if (isStar) for (const name of namesOf(starOf)) if (!without.has(name)) names.add(name);
    if (!read.some(isRead)) continue;
    mentions = true;
    names.add((first?.isStar === false ? first : { words: read }).words.at(-1)?.name ?? "");
  }
  return { names, mentions };
}
