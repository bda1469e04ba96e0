/** How much a document tells, most first (product §4.2). */
export type Detail = "full" | "by rule" | "by object" | "counts";

const details: readonly Detail[] = ["full", "by rule", "by object", "counts"];
const defaultBudget = 60_000;

/** The document in the most telling form that fits the budget; counts alone are short whatever the plan, and are given even where nothing fits. */
export function fitted(draw: (detail: Detail) => string, budget = defaultBudget): string {
  let text = "";
  for (const detail of details) {
    text = draw(detail);
    if (text.length <= budget) break;
  }
  return text;
}

// Entries of a list (checklist, diagnostics, …) per form; what is beyond is counted.
const listLimits: Readonly<Record<Detail, number>> = { full: Number.POSITIVE_INFINITY, "by rule": 100, "by object": 20, counts: 0 };

/** The list as far as the form allows, then how many are left out. `separator` stands between the entries. */
export function listed<T>(all: readonly T[], detail: Detail, draw: (entry: T) => string, separator = "\n"): string {
  const limit = listLimits[detail];
  const shown = all.slice(0, limit).map(draw);
  return [...shown, ...(all.length > limit ? [`- … and ${all.length - limit} more`] : [])].join(separator);
}

/** What is missing from a form, `forms` saying it of the document's main part, and where it is; "" for the full one. */
export function shortenedText(detail: Detail, forms: Readonly<Record<Exclude<Detail, "full">, string>>, command: string): string {
  if (detail === "full") return "";
  const lists = detail === "counts" ? "All lists are left out." : `Lists end after ${listLimits[detail]} entries.`;
  return `**Shortened:** ${forms[detail]} ${lists} See everything with \`${command}\`.`;
}
