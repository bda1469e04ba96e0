/** Rows of cells as a Markdown table; the first row is the head. */
export function table(rows) {
  const [head, ...body] = rows;
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export const ms = (value) => Math.round(value).toLocaleString("en");
export const mib = (value) => (value === undefined ? "" : String(Math.round(value)));

/** "365 (351–380)": the median between the quartiles, in ms; of a single run, its time. */
export const wall = ({ low, median, high, runs }) => (runs === 1 ? ms(median) : `${ms(median)} (${ms(low)}–${ms(high)})`);

/** The ratio of two medians. */
export const times = (value, of) => `${(value.median / of.median).toFixed(2)} ×`;

/** Throws if the service received anything else. */
export function expectCounts(seen, wanted, what) {
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Error(`${what}: ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
}
