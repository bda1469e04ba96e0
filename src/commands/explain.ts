import { type Explained, explainNode, nodePath } from "../engine/explain.ts";
import type { Project } from "../manifests/project.ts";
import { parseAddress } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import { isObject } from "../model/json.ts";
import { visible } from "../render/visible.ts";
import type { Context } from "./context.ts";
import type { GlobalFlags } from "./flags.ts";
import { withReadSession } from "./operations.ts";
import { loadOneProject } from "./project.ts";

export interface ExplainFlags extends GlobalFlags {
  readonly pointer?: string;
}

/** `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`: every rule that spoke of a node, who won, and what would be sent. Reads only. */
export async function runExplain(context: Context<ExplainFlags>, address: string, path: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  if (parseAddress(address)?.kind !== "SchemaConfig")
    throw new DimsyncError(
      "E_USAGE",
      `explain takes the address of a schema configuration, such as SchemaConfig/orders@orders; for ${JSON.stringify(address)}, dimsync plan --only shows what is known.`,
    );
  const node = nodePath(path, flags.pointer);
  const project = await loadOneProject(context);
  const explained = await withReadSession(project, { env: io.env, signal: io.interrupted }, (session) =>
    explainNode(session, address, node),
  );
  if (flags.output.includes("json"))
    io.stdout(
      `${JSON.stringify(
        explained.map((one) => located(one, project)),
        undefined,
        2,
      )}\n`,
    );
  else io.stdout(explained.map((one) => textOf(one, project)).join("\n"));
  return 0;
}

function located(one: Explained, { locate }: Project) {
  return {
    ...one,
    said: one.said.map(({ place, ...said }) => ({ ...said, ...at(locate(place)) })),
    changes: one.changes.map(({ cause, ...change }) => ({
      ...change,
      cause: { rule: cause.rule, reason: cause.reason, ...at(locate(cause.place)) },
    })),
  };
}

const at = ({ file, line }: { readonly file: string; readonly line?: number }) => ({ file, ...(line === undefined ? {} : { line }) });

function textOf(one: Explained, { locate }: Project): string {
  const lines = [
    `${visible(one.address)}   ${visible(one.path.map((name) => (/^[\w-]+$/u.test(name ?? "") ? name : JSON.stringify(name))).join("."))}`,
    "",
  ];
  if (one.said.length === 0) lines.push("  No rule and no literal speaks of it.");
  const rows = one.said.map((said) => {
    const { file, line } = locate(said.place);
    const what =
      said.effect === "ignore"
        ? "ignores it"
        : said.effect === "ignore-above"
          ? "ignores a node above it"
          : said.effect === "narrowed"
            ? "does not apply (where)"
            : fields(said.set);
    const wins = said.wins.length > 0 ? `decides ${said.wins.join(" and ")}` : said.effect === "set" ? "overruled" : "";
    return [said.rule ?? "literal", what, wins, `${file}${line === undefined ? "" : `:${line}`}`, said.reason ?? ""];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length), 0));
  for (const row of rows) lines.push(`  ${row.map((cell, column) => visible(cell).padEnd(widths[column] ?? 0)).join("   ")}`.trimEnd());
  lines.push("", `  live      ${one.live === undefined ? "not in the account, or its columns are unknown" : fields(one.live)}`);
  lines.push(`  outcome   ${one.state}${one.state === "managed" ? `: ${fields(one.outcome)}` : ""}`);
  for (const { key, before, after, risk } of one.changes) lines.push(`  change    ${key} ${before} → ${after}   ${risk}`);
  if (one.changes.length === 0) lines.push("  change    none");
  for (const { method, path, body } of one.requests)
    lines.push(`  request   ${method} ${path}`, `            ${visible(JSON.stringify(body))}`);
  return `${lines.join("\n")}\n`;
}

/** Scalar members in a row: "enabled: true, hashed: false". */
function fields(value: unknown): string {
  if (!isObject(value)) return "";
  const scalars = Object.entries(value).filter(([, member]) => typeof member !== "object" && member !== undefined);
  return scalars.length === 0 ? "nothing" : visible(scalars.map(([key, member]) => `${key}: ${String(member)}`).join(", "));
}
