/** A text in a table's cell. */
export const cell = (text) =>
  String(text)
    .replaceAll("\n", " ")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("*", "\\*")
    .replaceAll("_", "\\_")
    .replaceAll("[", "\\[");

/** A name or value as code, also in a table's cell. */
export const code = (text) => (String(text) === "" ? "" : `\`${String(text).replaceAll("|", "\\|").replaceAll("`", "'")}\``);

export const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
