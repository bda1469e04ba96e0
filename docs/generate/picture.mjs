// Prints docs/plan-comment-drift.svg, the picture in README.md. `npm run build` first, then
// `node docs/generate/picture.mjs > docs/plan-comment-drift.svg`. Runs the built command line in a copy of
// examples/quickstart and draws what it prints: a plan, the same plan as a comment, and the drift after a change.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dimsync = join(root, "dist/bin.cjs");
const cwd = mkdtempSync(join(tmpdir(), "dimsync-picture-"));
const env = { PATH: process.env.PATH, COLUMNS: "90", FORCE_COLOR: "1", LAKE_SECRET_KEY: "a key", RETURNS_DB_PASSWORD: "a password" };

/** What a command prints, without the time of the run. Throws if the exit code is not the expected one. */
function run(args, expected) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [dimsync, ...args], { cwd, env, encoding: "utf8" });
  if (status !== expected) throw error ?? new Error(`dimsync ${args.join(" ")} ended with ${status}, not ${expected}: ${stderr}`);
  return stdout.replaceAll(/\b20\d\d-\d\d-\d\d \d\d:\d\d UTC/g, "2026-11-02 09:30 UTC");
}

/** Dana turns off hashing of customers.email, without dimsync. */
async function unhash() {
  const args = [dimsync, "serve", "--data", ".dimsync/account.json", "--person", "dana@example.com"];
  const service = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const closed = once(service, "close");
  try {
    let url;
    for await (const line of createInterface({ input: service.stdout })) {
      url ??= /^DIMSYNC_BASE_URL=(.+)$/.exec(line)?.[1];
      const key = /^# API key of dana@example\.com: (.+)$/.exec(line)?.[1];
      if (key === undefined) continue;
      const columns = { email: { enabled: true, hashed: false } };
      const body = JSON.stringify({ schemas: { public: { enabled: true, tables: { customers: { enabled: true, columns } } } } });
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const { ok, status } = await fetch(`${url}/v1/integrations/8f1c/schemas`, { method: "PATCH", headers, body });
      if (!ok) throw new Error(`The service refused Dana's change with status ${status}.`);
      break;
    }
  } finally {
    service.kill();
    await closed;
  }
}

const [glyph, lineHeight, width] = [7.8, 19, 832];
const mono = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const sans = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
/** The attributes that an SGR code sets. */
const styles = {
  ...{ 1: { "font-weight": "bold" }, 2: { fill: "#9da7b3" }, 22: { "font-weight": undefined, fill: undefined } },
  ...{ 31: { fill: "#ff7b72" }, 32: { fill: "#56d364" }, 33: { fill: "#e3b341" }, 36: { fill: "#76e3ea" }, 39: { fill: undefined } },
};

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const element = (name, attributes, content = "") => {
  const pairs = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return `<${name}${pairs.map(([key, value]) => ` ${key}="${escaped(String(value))}"`).join("")}>${content}</${name}>`;
};
const prose = (y, text, attributes) => element("text", { x: 16, y, "font-family": sans, ...attributes }, escaped(text));
/** Browsers collapse spaces in SVG, and their fonts have different widths: the columns must stay aligned. */
const monospaced = (x, y, text, attributes) =>
  element("text", { x, y, textLength: (stripVTControlCharacters(text).length * glyph).toFixed(1), ...attributes }, spansOf(text));

/** A line of a terminal as spans. */
function spansOf(line) {
  let style = {};
  const spans = `39m${line.replaceAll(" ", "\u00a0")}`.split("\u001b[").map((part) => {
    const [, code, text] = /^(\d+)m(.*)$/.exec(part);
    if (styles[code] === undefined) throw new Error(`docs/generate/picture.mjs does not draw the SGR code ${code}.`);
    style = { ...style, ...styles[code] };
    return text === "" ? "" : element("tspan", style, escaped(text));
  });
  return spans.join("");
}

/** A terminal without the sections of the output that match. */
function terminal(command, output, cut) {
  const sections = output.trim().split("\n\n");
  const shown = sections.filter((section) => !cut.test(section)).join("\n\n");
  const lines = `$ \u001b[1m${command}\u001b[22m\n${shown}`.split("\n");
  const drawn = lines.map((line, index) => (line === "" ? "" : monospaced(16, 26 + index * lineHeight, line, { fill: "#e6edf3" })));
  return { height: lines.length * lineHeight + 22, fill: "#161b22", drawn };
}

/** The comment up to the end of its first table. Folded sections stay folded. */
function comment(markdown) {
  const folded = markdown.replaceAll(/<details><summary>(.*?)<\/summary>[\s\S]*?<\/details>/g, "▸ $1").replaceAll(/`|^- /gm, "");
  const [, before, header, table] = /^([\s\S]*?)(\|.*\n)\|.*\n((?:\|.*\n)+)/.exec(folded);
  let y = 8;
  const drawn = before.match(/.+/g).map((line) => {
    const [, hashes, bold, text] = /^(#*) ?(\**)(.*?)\**$/.exec(line);
    const size = { 2: 20, 3: 17, 4: 15 }[hashes.length] ?? 14;
    y += size + 12;
    return prose(y, text, { "font-size": size, "font-weight": hashes || bold ? 600 : undefined });
  });
  const rows = `${header}${table}`.match(/.+/g).map((row) => row.slice(2, -2).split(" | "));
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length + 3)) * glyph);
  for (const [index, row] of rows.entries()) {
    y += 26;
    const [fill, weight] = index === 0 ? ["#f6f8fa", 600] : ["none"];
    drawn.push(element("rect", { x: 16, y: y - 17, width: width - 72, height: 26, fill, stroke: "#d1d9e0" }));
    let x = 24;
    for (const [column, cell] of row.entries()) {
      drawn.push(monospaced(x, y, cell, { "font-weight": weight }));
      x += widths[column];
    }
  }
  return { height: y + 28, fill: "#ffffff", drawn };
}

/** The panels below each other, each with a caption. */
function svg(panels) {
  let y = 44;
  const drawn = panels.map(([caption, { height, fill, drawn: parts }]) => {
    const frame = element("rect", { width: width - 40, height, rx: 8, fill, stroke: "#6e7681" });
    const heading = prose(-12, caption, { x: 2, "font-size": 14, "font-weight": 600, fill: "#e6edf3" });
    const panel = element("g", { transform: `translate(20 ${y})`, fill: "#1f2328" }, `\n${[heading, frame, ...parts].join("\n")}\n`);
    y += height + 44;
    return panel;
  });
  const height = y - 24;
  const title = element("title", {}, escaped(panels.map(([caption]) => caption).join(" ")));
  const background = element("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 8, fill: "#0d1117", stroke: "#6e7681" });
  const attributes = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height };
  return `${element("svg", { ...attributes, "font-family": mono, "font-size": 13, role: "img" }, `\n${[title, background, ...drawn].join("\n")}\n`)}\n`;
}

async function picture() {
  for (const name of ["dimsync.yaml", "manifests"]) cpSync(join(root, "examples/quickstart", name), join(cwd, name), { recursive: true });
  const args = ["plan", "--only", "*/orders"];
  const plan = terminal("dimsync plan --only '*/orders'", run(args, 0), /Not managed/);
  const planComment = comment(run([...args, "-o", "markdown"], 0));
  run(["apply", "--yes"], 0);
  await unhash();
  const drift = terminal("dimsync drift", run(["drift"], 3), /Not managed|To restore/);
  return svg([
    ["1. plan: what would apply change?", plan],
    ["2. The same plan, as a comment on the pull request", planComment],
    ["3. drift: what did someone change in the account, without dimsync?", drift],
  ]);
}

try {
  process.stdout.write(await picture());
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
