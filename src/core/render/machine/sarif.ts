import type { Log, ReportingDescriptor, Run, Result as SarifResult } from "sarif";
import type { Severity } from "../../model/problem.ts";
import { jsonDocument, visible } from "../../text/control-characters.ts";
import type { Document, RenderOptions } from "../document.ts";
import { type Finding, findingsOf } from "../report/findings.ts";

// GitHub code scanning shows 5 000 results per run and refuses more than 25 000.
const mostResults = 5_000;
const levels = { error: "error", warning: "warning", info: "note" } as const satisfies Record<Severity, SarifResult.level>;

/** SARIF 2.1.0 for code scanning: one log with a run per target. */
export function renderSarif(documents: readonly Document[], { filePrefix = "" }: RenderOptions): string {
  const log: Log = {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: documents.map((document) => runOf(document, filePrefix)),
  };
  return jsonDocument(log);
}

function runOf(document: Document, prefix: string): Run {
  const all = findingsOf(document);
  const shown = all.slice(0, mostResults);
  const rules = rulesOf(shown);
  const indexByRule = new Map(rules.map(({ id }, index) => [id, index]));
  const left = all.length - shown.length;
  const notes =
    left === 0 ? [] : [{ level: "note" as const, message: { text: `${left} more results are left out; the most severe are shown.` } }];
  return {
    tool: {
      driver: {
        name: "dimsync",
        ...(document.kind === "Validation" ? {} : { version: visible(document.tool.version) }),
        rules: [...rules],
      },
    },
    // Results of a category replace those of its previous run. Each target has its own category.
    automationDetails: {
      id: document.kind === "Validation" ? "dimsync/validate/" : `dimsync/${document.kind.toLowerCase()}/${visible(document.target)}/`,
    },
    columnKind: "utf16CodeUnits",
    invocations: [{ executionSuccessful: document.exit.code !== 1, exitCode: document.exit.code, toolExecutionNotifications: notes }],
    results: shown.map((entry) => resultOf(entry, indexByRule.get(visible(entry.rule)) ?? 0, prefix)),
  };
}

function rulesOf(entries: readonly Finding[]): readonly ReportingDescriptor[] {
  const rules = new Map<string, ReportingDescriptor>();
  for (const { rule, title, severity } of entries) {
    const id = visible(rule);
    if (rules.has(id)) continue;
    rules.set(id, { id, shortDescription: { text: visible(title) }, defaultConfiguration: { level: levels[severity] } });
  }
  return [...rules.values()];
}

function resultOf(entry: Finding, ruleIndex: number, prefix: string): SarifResult {
  const { rule, severity, message, more = [], address, path } = entry;
  return {
    ruleId: visible(rule),
    ruleIndex,
    level: levels[severity],
    message: { text: [message, ...more].map(visible).join("\n") },
    locations: [
      {
        physicalLocation: physicalLocation(entry, prefix),
        ...(address === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: visible(address), kind: "object" }] }),
      },
    ],
    // Does not depend on lines, so that a finding that moved is not reported as new.
    partialFingerprints: { "dimsync/v1": [rule, address ?? entry.file ?? "", path ?? ""].map(visible).join(" ") },
  };
}

/** GitHub refuses a log with a result without a file, so such results get the config file. */
function physicalLocation({ file = "dimsync.yaml", line, column }: Finding, prefix: string) {
  const isAbsolute = file.startsWith("/");
  return {
    artifactLocation: isAbsolute ? { uri: `file://${uriPath(file)}` } : { uri: uriPath(prefix + file), uriBaseId: "%SRCROOT%" },
    region: { startLine: line ?? 1, ...(line === undefined || column === undefined ? {} : { startColumn: column }) },
  };
}

/** `visible` comes first, because a lone surrogate can't be percent-encoded. */
const uriPath = (path: string): string =>
  path
    .split("/")
    .map((segment) => encodeURIComponent(visible(segment)))
    .join("/");
