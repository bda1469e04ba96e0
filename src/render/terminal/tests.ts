import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { cell, type Row, screenOf, tableLines, wrap } from "./layout.ts";

/** The outcome of one test of `dimsync test`. */
export interface ShownTest {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly passed: boolean;
  /** How many nodes or integrations were checked. */
  readonly checked: number;
  readonly failed: number;
  /** The first failures; `failed` counts all. `node` is "" for the integration itself. */
  readonly failures: readonly {
    readonly integration: string;
    readonly node: string;
    readonly key: string;
    readonly expected: string | boolean;
    readonly actual?: string | boolean;
  }[];
  /** Why it failed although no node did. */
  readonly message?: string;
}

export function testsText(tests: readonly ShownTest[], options: RenderOptions): string {
  const { paint, width } = screenOf(options);
  const rows = tests.flatMap((test): readonly Row[] => [
    [
      test.passed ? cell("ok", paint.green) : cell("failed", paint.red),
      cell(visible(test.name), paint.bold),
      cell(`${test.checked} checked`, paint.dim),
      cell(test.passed ? "" : visible(`${test.file}:${test.line}`)),
    ],
    ...testFailures(test).flatMap((line) => wrap(visible(line), "         ", width)),
  ]);
  const failed = tests.filter(({ passed }) => !passed).length;
  return `${[...tableLines(rows, "", width), "", `${counted(tests.length, "test")}, ${failed} failed.`].join("\n")}\n`;
}

/** One line per failure: "orders public.users.email: hashed is false, not true"; raw. */
export const testFailures = ({ message, failures, failed }: ShownTest): readonly string[] => [
  ...(message === undefined ? [] : [message]),
  ...failures.map(failureText),
  ...(failed > failures.length ? [`and ${failed - failures.length} more`] : []),
];

function failureText({ integration, node, key, expected, actual }: ShownTest["failures"][number]): string {
  const value = actual === undefined ? "unknown" : JSON.stringify(actual);
  return `${node === "" ? integration : `${integration} ${node}`}: ${key} is ${value}, not ${JSON.stringify(expected)}`;
}
