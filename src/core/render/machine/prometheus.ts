import { visible } from "../../base/text/control-characters.ts";

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

interface Family {
  /** Without "dimsync_". */
  readonly name: string;
  readonly help: string;
  readonly type: "gauge";
  readonly samples: readonly Sample[];
}

/** A metric in Prometheus text format 0.0.4; "" without a sample. */
export function familyText({ name, help, type, samples }: Family): string {
  if (samples.length === 0) return "";
  const full = `dimsync_${name}`;
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${samples.map(([labels, value]) => `${full}${labelText(labels)} ${value}\n`).join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** A line break has an escape of its own, which readers undo. Other control characters are shown as they are in a terminal. */
const escaped = (text: string): string =>
  text
    .split("\n")
    .map((line) => visible(line).replaceAll("\\", "\\\\").replaceAll('"', '\\"'))
    .join("\\n");
