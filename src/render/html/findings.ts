import type { Blocked, Deferred, GuardFinding, Manual, Plan, PolicyFinding, Unverifiable } from "../../model/plan.ts";
import type { Diagnostic, Severity } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { wholePath } from "../../text/paths.ts";
import { valueLines, valueText } from "../../text/values.ts";
import type { ReportHistory } from "../document.ts";
import { placeText, waitsForText } from "../report/changes.ts";
import { integrationsText, unmanagedGroups } from "../report/groups.ts";
import { traceHtml } from "./changes.ts";
import { blocks, chip, code, escaped, prose, type Tone } from "./escape.ts";

// Of more objects than this only the number stands openly.
const mostOpenNames = 50;

const tones: Readonly<Record<Severity, Tone>> = { error: "bad", warning: "warn", info: "info" };

/** The numbered steps, and below them what was done since the report before. */
export function checklist(manual: readonly Manual[], done: ReportHistory["done"]): string {
  const steps =
    manual.length === 0
      ? ""
      : `<ol class="steps">\n${manual
          .map(({ id, address, path, expected, actual, instruction, origin, attribution }, index) => {
            const name = path.slice(path.lastIndexOf("/") + 1);
            const value = (of: Manual["actual"], word: string): string => (of === undefined ? "" : `${word} ${code(valueText(of, name))}`);
            const values = [value(actual, "live"), value(expected, "declared")].filter((part) => part !== "").join(", ");
            const trace = traceHtml({ ...(origin === undefined ? {} : { origin }), ...(attribution === undefined ? {} : { attribution }) });
            return `<li><p><span aria-hidden="true">☐</span> <strong>${index + 1}. ${escaped(address)}</strong>${path === "" ? "" : ` ${code(wholePath(path))}`}${values === "" ? "" : `: ${values}`} <span class="quiet small">${escaped(id)}</span></p><p>${prose(instruction)}</p>${trace === "" ? "" : `<p class="small trace">${trace}</p>`}</li>`;
          })
          .join("\n")}\n</ol>`;
  const finished =
    done.length === 0
      ? ""
      : `<h3>Done since the last report</h3>\n<ul class="steps done">\n${done
          .map(
            ({ id, address, path }) =>
              `<li><span aria-hidden="true">☑</span> <strong>${escaped(address)}</strong>${path === "" ? "" : ` ${code(wholePath(path))}`} <span class="quiet small">${escaped(id)}</span></li>`,
          )
          .join("\n")}\n</ul>`;
  return blocks(steps, finished);
}

export function blockedList(blocked: readonly Blocked[]): string {
  return list(
    blocked,
    ({ address, code: problem, message, command }) =>
      `<strong>${escaped(address)}</strong> ${chip(problem, "bad")}<br>${prose(message)}${command === undefined ? "" : `<pre>${escaped(command)}</pre>`}`,
  );
}

export function deferredList(deferred: readonly Deferred[]): string {
  return deferred
    .map(
      (entry) =>
        `<details class="card"><summary><strong>${escaped(entry.address)}</strong> <span class="quiet">${waitsForText(entry, escaped)}</span></summary><div class="inside"><pre>${valueLines(entry.desired).map(escaped).join("\n")}</pre></div></details>`,
    )
    .join("\n");
}

export function unverifiableList(unverifiable: readonly Unverifiable[]): string {
  return list(
    unverifiable,
    ({ address, paths, reason }) =>
      `<strong>${escaped(address)}</strong>: ${paths.map((path) => code(wholePath(path))).join(", ")}<br><span class="quiet">${prose(reason)}</span>`,
  );
}

export function unmanagedList({ integrations, tags, columns, tables = [] }: Plan["unmanaged"]): string {
  const objects = [
    ...integrations.map((object) => ({ kind: "Integration", ...object })),
    ...tags.map((object) => ({ kind: "Tag", ...object })),
  ];
  const rows = objects.map(({ kind, id, name }) => `<li>${kind} <strong>${escaped(name)}</strong> ${code(id)}</li>`);
  const names =
    rows.length === 0
      ? ""
      : rows.length <= mostOpenNames
        ? `<ul>${rows.join("")}</ul>`
        : `<details><summary>${counted(rows.length, "object")}</summary><ul>${rows.join("")}</ul></details>`;
  const rest =
    columns === 0
      ? ""
      : `<p>${counted(columns, "column")} in managed integrations ${columns === 1 ? "is" : "are"} not covered by any rule.</p>`;
  const where = unmanagedGroups(tables).map(
    ({ table, columns: of, integrations: labels }) =>
      `<li>${code(table)}: ${code(of)} <span class="quiet">${escaped(integrationsText(labels, true))}</span></li>`,
  );
  return blocks(names, rest, where.length === 0 ? "" : `<details><summary>Which</summary><ul>${where.join("")}</ul></details>`);
}

/** The findings of one policy with one message together: said once, then every place. */
export function policyList(findings: readonly PolicyFinding[]): string {
  const groups = new Map<string, [PolicyFinding, ...PolicyFinding[]]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.policy, finding.severity, finding.message]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()]
    .map((group) => {
      const [{ policy, severity, message }] = group;
      const places = group.map(({ address, path, ...place }) => {
        const where = placeText(place);
        return `<li>${escaped(address)} ${code(wholePath(path))}${where === "" ? "" : ` <span class="quiet">${escaped(where)}</span>`}</li>`;
      });
      const shown =
        places.length <= 10
          ? `<ul>${places.join("")}</ul>`
          : `<details><summary>${counted(places.length, "place")}</summary><ul>${places.join("")}</ul></details>`;
      return `<div class="card"><p>${chip(severity, tones[severity])} <strong>Policy/${escaped(policy)}</strong></p><p>${prose(message)}</p>${shown}</div>`;
    })
    .join("\n");
}

export function guardNotes(guards: readonly GuardFinding[]): string {
  return guards
    .map(({ guard, message, limit, actual, allowed }) => {
      const measure = [actual === undefined ? "" : `${actual} found`, limit === undefined ? "" : `at most ${limit} allowed`].filter(
        (part) => part !== "",
      );
      const numbers = measure.length === 0 ? "" : ` (${measure.join(", ")})`;
      if (allowed !== undefined)
        return `<div class="note info"><p><strong>Guard ${escaped(guard)} lifted</strong>: ${escaped(allowed)}${numbers}</p><p>${prose(message)}</p></div>`;
      return `<div class="note bad"><p><strong>Guard ${escaped(guard)} refuses</strong>${numbers}</p><p>${prose(message)}</p><p>To lift it, give a reason: ${code(`--allow ${guard}="reason"`)}</p></div>`;
    })
    .join("\n");
}

const severityOrder: readonly Severity[] = ["error", "warning", "info"];

/** Errors first, with their source lines. */
export function diagnosticList(diagnostics: readonly Diagnostic[]): string {
  const sorted = severityOrder.flatMap((severity) => diagnostics.filter((diagnostic) => diagnostic.severity === severity));
  return list(sorted, ({ severity, code: problem, summary, message, command, address, excerpt, ...place }) => {
    const where = placeText(place) || (address ?? "");
    const source = excerpt === undefined ? "" : `<pre>${excerpt.map((line) => escaped(line.replaceAll("\t", " "))).join("\n")}</pre>`;
    return `${chip(severity, tones[severity])} <strong>${escaped(summary)}</strong> <span class="quiet">${escaped(problem)}</span>${where === "" ? "" : ` ${code(where)}`}${source}<p>${prose(message)}</p>${command === undefined ? "" : `<pre>${escaped(command)}</pre>`}`;
  });
}

function list<T>(entries: readonly T[], draw: (entry: T) => string): string {
  return entries.length === 0 ? "" : `<ul class="steps">\n${entries.map((entry) => `<li>${draw(entry)}</li>`).join("\n")}\n</ul>`;
}
