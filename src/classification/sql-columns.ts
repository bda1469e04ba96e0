// Which names a column has in the result of a query, as far as the text shows. Not a parser of any SQL dialect: it follows
// select lists, CTEs, subqueries and `select *`, and reads everything else as words. What it finds is evidence, not proof.

/** Names in lower case. */
type Names = ReadonlySet<string>;

/** How a query reads a column. */
export interface ColumnUse {
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
  return tokens;
}

/** "customers" of `'shop', 'customers'` and of `'stg_customers', v=2`. */
const relationName = (arguments_: string): string => [...arguments_.matchAll(/['"]([^'"]*)['"]/gu)].at(-1)?.[1] ?? "";

interface SelectItem {
  readonly words: string[];
  isStar: boolean;
}

/** One select statement, with those that UNION adds to it. */
interface Query {
  /** Set if it is a CTE. */
  readonly cte: string | undefined;
  readonly items: SelectItem[];
  readonly others: string[];
  readonly input: Set<string>;
  clause: "select" | "from" | "other";
  /** Open parentheses that do not begin a query. */
  depth: number;
  expectsRelation: boolean;
}

const newQuery = (cte?: string): Query => ({
  cte,
  items: [],
  others: [],
  input: new Set(),
  clause: "other",
  depth: 0,
  expectsRelation: false,
});

const endOfFrom: ReadonlySet<string> = new Set(["where", "group", "order", "having", "qualify", "limit", "window", "union", "on", "using"]);
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
      if (query.cte === undefined) addSubquery(open.at(-1), names);
    } else readToken(query, { token, next, before: tokens[index - 1] }, (relation) => ctes.get(relation) ?? relations.get(relation));
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
  if (query.clause === "select") query.items.at(-1)?.words.push(...names);
  query.expectsRelation = false;
}

interface Place {
  readonly token: string;
  readonly before: string | undefined;
  readonly next: string | undefined;
}

function readToken(query: Query, { token, before, next }: Place, namesIn: (relation: string) => Names | undefined): void {
  if (token === "(") query.depth++;
  else if (token === ")") query.depth = Math.max(0, query.depth - 1);
  else if (query.depth > 0) addWord(query, token);
  else if (token === "select") {
    query.clause = "select";
    query.items.push({ words: [], isStar: false });
  } else if (token === "from" || token === "join") {
    query.clause = "from";
    query.expectsRelation = true;
  } else if (token === ",") {
    if (query.clause === "select") query.items.push({ words: [], isStar: false });
    query.expectsRelation = query.clause === "from";
  } else if (token === "*") {
    const item = query.items.at(-1);
    if (item !== undefined && query.clause === "select" && ["select", "distinct", ",", "."].includes(before ?? "")) item.isStar = true;
  } else if (query.expectsRelation && token !== "." && next !== ".") {
    for (const name of namesIn(token) ?? []) query.input.add(name);
    query.expectsRelation = false;
  } else if (query.clause === "from" && endOfFrom.has(token)) query.clause = "other";
  else if (!query.expectsRelation) addWord(query, token);
  // The macro of dbt_utils.
  const item = query.items.at(-1);
  if (token === "star" && next === "(" && query.clause === "select" && item !== undefined) item.isStar = true;
}

function addWord(query: Query, word: string): void {
  if (/^[.,*]$/u.test(word)) return;
  if (query.clause === "select") query.items.at(-1)?.words.push(word);
  else query.others.push(word);
}

function resultOf({ items, others, input }: Query): { readonly names: Names; readonly mentions: boolean } {
  const names = new Set<string>();
  let mentions = others.some((word) => input.has(word));
  for (const { words, isStar } of items) {
    const exception = isStar ? words.findIndex((word) => starExceptions.has(word)) : -1;
    const read = exception < 0 ? words : words.slice(0, exception);
    const without = new Set(exception < 0 ? [] : words.slice(exception));
    if (isStar) for (const name of input) if (!without.has(name)) names.add(name);
    if (!read.some((word) => input.has(word))) continue;
    mentions = true;
    names.add(read.at(-1) ?? "");
  }
  return { names, mentions };
}
