import { cell, code, table } from "./markdown.mjs";

/** A page with every field of a schema, by dotted path: type or values, whether it is required, meaning. */
export function schemaPage(title, schema, root) {
  if (schema === undefined) return undefined;
  const rows = [];
  fields(schema, root, "", [], rows);
  const seen = new Set();
  const unique = rows.filter(([path]) => !seen.has(path) && seen.add(path));
  const shown = onceEach(unique).map(([path, type, required, text, same]) => {
    const members = same === undefined ? "" : ` Members as in ${code(same)}.`;
    return [code(path), cell(type), required ? "yes" : "", `${cell(text)}${members}`];
  });
  return `# ${title}\n\n${schema.description ?? ""}\n\n\`[]\` is any member of a list, \`*\` any name in a map.\n\n${table(["field", "type", "required", "meaning"], shown)}\n`;
}

/** Rows without the members of a field if another field has the same members; then with the path of that field at the end. */
function onceEach(rows) {
  const pathOf = new Map();
  let skipped;
  return rows.flatMap((row, index) => {
    const [path] = row;
    if (skipped !== undefined && isBelow(path, skipped)) return [];
    skipped = undefined;
    const next = rows.findIndex(([other], at) => at > index && !isBelow(other, path));
    const members = rows.slice(index + 1, next === -1 ? undefined : next);
    if (members.length < 2) return [row];
    const key = JSON.stringify(members.map(([member, ...rest]) => [member.slice(path.length), ...rest]));
    const same = pathOf.get(key);
    if (same === undefined) pathOf.set(key, path);
    else skipped = path;
    return [[...row, ...(same === undefined ? [] : [same])]];
  });
}

const isBelow = (path, above) => path.startsWith(`${above}.`) || path.startsWith(`${above}[]`);

function fields(schema, root, path, above, rows) {
  for (const part of open(schema, root)) {
    if (above.includes(part)) continue;
    const inside = [...above, part];
    for (const [name, member] of Object.entries(part.properties ?? {}))
      add(name, member, part.required?.includes(name) === true, path, root, inside, rows);
    if (typeof part.additionalProperties === "object" && part.additionalProperties !== null && !isOpen(part.additionalProperties))
      add("*", part.additionalProperties, false, path, root, inside, rows);
    if (typeof part.items === "object") fields(part.items, root, `${path}[]`, inside, rows);
  }
}

function add(name, member, required, path, root, above, rows) {
  const parts = open(member, root);
  const full = path === "" ? name : `${path}.${name}`;
  const text = parts.map(({ description }) => description).find((one) => one !== undefined) ?? "";
  if (!(member === false)) rows.push([full, typeOf(parts), required, text]);
  // A recursive schema is listed once.
  if (parts.some((part) => above.includes(part))) return;
  fields(member, root, full, above, rows);
}

const isOpen = (schema) => typeof schema.$ref === "string" && schema.$ref.endsWith("/open");

function open(schema, root) {
  if (typeof schema !== "object" || schema === null) return [];
  const referred =
    typeof schema.$ref === "string" && schema.$ref.startsWith("#/") ? open(at(root, schema.$ref.slice(2).split("/")), root) : [];
  const branches = ["allOf", "oneOf", "anyOf"].flatMap((keyword) => schema[keyword] ?? []);
  return [schema, ...referred, ...[...branches, schema.then, schema.else].flatMap((branch) => open(branch, root))];
}

const at = (value, names) => names.reduce((inner, name) => inner?.[name], value);

function typeOf(parts) {
  const fixed = parts.flatMap((part) =>
    (part.enum ?? (Object.hasOwn(part, "const") ? [part.const] : [])).map((value) => JSON.stringify(value)),
  );
  const types = parts.flatMap(({ type }) => type ?? []);
  const all = fixed.length > 0 ? fixed : types;
  return [...new Set(all)].join(", ");
}
