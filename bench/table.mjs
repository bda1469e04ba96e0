/** Rows of cells as a Markdown table; the first row is the head. */
export function table(rows) {
  const [head, ...body] = rows;
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export const ms = (value) => Math.round(value).toLocaleString("en");
export const mib = (value) => String(Math.round(value));
export const times = (value, of) => `${(value / of).toFixed(2)} ×`;

/** Throws if the service received anything else. */
export function expectCounts(seen, wanted, what) {
  if (JSON.stringify(seen) !== JSON.stringify(wanted))
    throw new Error(`${what}: ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
}
