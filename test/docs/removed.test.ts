// Nothing that was removed is still named: commands, flags, keys, formats and codes. Only CHANGELOG.md may name them.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { titles } from "../../src/core/base/model/titles.ts";

const checked =
  /^(?:src|docs|examples|schema|templates|\.github)\/|^(?:README|SECURITY)\.md$|^action\.yml$|^Dockerfile$|^\.pre-commit-hooks\.yaml$/u;

const commands = ["render", "snapshot", "compare", "fmt", "mcp", "completion", "version", "help", "diff"];

/** Without those that other programs in these files have, too, such as --check. */
const flags = [
  ...["accounts-per-host", "all-integrations", "allow-code", "allow-modules", "allow-removal", "approval", "assume-complete-lists"],
  ...["base-path", "concurrency", "discover-after", "error-body", "fail-fast", "faults", "latency", "list-unmanaged", "metrics"],
  ...["no-attribution", "no-notify", "notify", "notify-format", "public-url", "pull-request", "retries", "schema-form", "suggest"],
  ...["trust-proxy-header", "write-secrets"],
];

const keys = [
  ...["acceptExposureWindow", "maxColumnReads", "planDiffers", "policies: \\{ existing", "DIMSYNC_SECRETS_DIR"],
  ...["OTEL_[A-Z_]+", "OpenTelemetry", "[Ss]arif|SARIF", "JUnit|junit"],
];

const removed = new RegExp(
  [
    `\\bdimsync (?:${commands.join("|")})\\b(?![.=]| [A-Za-z]*=)`,
    `(?<![\\w-])--(?:${flags.join("|")})(?![\\w-])`,
    ...keys.map((key) => `\\b(?:${key})`),
  ].join("|"),
  "gu",
);

const code = /\b[EWI]_[A-Z]+(?:_[A-Z]+)*\b/gu;

test("no file names what was removed, or a code that does not exist", () => {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { encoding: "utf8" }).split("\0");
  const found = files
    .filter((file) => checked.test(file) && !/\.(?:svg|png|json\.gz)$/u.test(file) && existsSync(file))
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line, index) =>
          [...(line.match(removed) ?? []), ...(line.match(code) ?? []).filter((name) => !Object.hasOwn(titles, name))].map(
            (word) => `${file}:${index + 1}: ${word}`,
          ),
        ),
    );
  expect(found).toEqual([]);
});
