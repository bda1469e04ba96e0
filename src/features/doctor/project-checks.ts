import { exemptionProblems } from "../../core/engine/checks/exemptions.ts";
import { ignoredFileProblems, leftOutProblems } from "../../core/engine/left-out.ts";
import { kindNamed } from "../../core/kinds/index.ts";
import { labelReferences } from "../../core/kinds/label-references.ts";
import { isTag } from "../../core/kinds/manifests.ts";
import { wantedLabels } from "../../core/kinds/patterns/labels.ts";
import type { Project } from "../../core/manifests/project.ts";
import { integrationOfSchemas, kindOf } from "../../core/model/address.ts";
import { DimsyncError, readOr } from "../../core/model/errors.ts";
import type { Plan } from "../../core/model/plan.ts";
import { type Diagnostic, type Problem, placeText, toDiagnostic } from "../../core/model/problem.ts";
import { policiesIn } from "../../core/policies/validate.ts";
import type { RecordsState } from "../../core/records/records.ts";
import type { Client } from "../../core/service/client.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore } from "../../core/text/lists.ts";
import { resolveCommand, shellWord } from "../../core/text/shell.ts";
import { type Check, fail, ok, skip, warn } from "./check.ts";

const oldestNode = [20, 19] as const;

/** `versions`: `process.versions`. Bun and Deno have a version of their own, and say which Node they imitate. */
export function nodeCheck(dimsync: string, versions: Readonly<Record<string, string | undefined>>): Check {
  const { node = "", bun, deno } = versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`;
  const found = `dimsync ${dimsync} on ${other === undefined ? "" : `${other}, which reports `}Node ${node}.`;
  if (other !== undefined) return warn("versions", found, `dimsync is tested on Node only. Use Node ${oldestNode.join(".")} or later.`);
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return isOld ? fail("versions", found, `Use Node ${oldestNode.join(".")} or later.`) : ok("versions", found);
}

/** The errors of dimsync.yaml and of settings, which are in no manifest. */
export function configErrors({ problems, files }: Project): readonly Problem[] {
  return problems.filter(
    ({ severity, place, code }) =>
      severity === "error" && code !== "E_PATH_NOT_FOUND" && (place === undefined || !files.includes(place.file)),
  );
}

export function configCheck(project: Project): Check {
  const { configFile, settings } = project;
  const errors = configErrors(project);
  const [first] = errors;
  if (first !== undefined)
    return fail("config", `${counted(errors.length, "error")}. The first one: ${first.message}`, "To see all errors: dimsync validate");
  if (configFile === undefined)
    return warn("config", "There is no dimsync.yaml; settings come from the environment.", "To create one: dimsync init");
  return ok("config", `${configFile}, target ${settings.target}.`);
}

/**
 * Manifests of another schema version are reported separately: they need another version of
 * dimsync.
 */
export function manifestCheck(project: Project): Check {
  const { resources, files, problems } = project;
  const check = "manifests";
  const ofConfig = configErrors(project);
  const errors = problems.filter((problem) => problem.severity === "error" && !ofConfig.includes(problem));
  if (errors.length > 0 && errors.every(({ code }) => code === "E_PATH_NOT_FOUND"))
    return warn(check, "A folder that the config names does not exist yet.", "Run dimsync import, which creates it, or write a manifest.");
  const otherVersion = errors.find(({ place }) => place?.pointer === "/apiVersion");
  if (otherVersion !== undefined)
    return fail(
      check,
      `${otherVersion.place?.file ?? "A manifest"} has another apiVersion: this dimsync reads dimsync/v1.`,
      "Correct its apiVersion, or use the dimsync version that it was written for. To see all errors: dimsync validate",
    );
  if (errors.length > 0)
    return fail(check, `${counted(files.length, "file")} with ${counted(errors.length, "error")}.`, "To see them: dimsync validate");
  return ok(check, `${counted(resources.length, "manifest")} in ${counted(files.length, "file")}, all of apiVersion dimsync/v1.`);
}

/** Exemptions of policies that end soon. */
export function exemptionChecks({ resources, locate }: Project, today: string): readonly Check[] {
  const ending = exemptionProblems(policiesIn(resources), today).filter(({ code }) => code === "W_EXEMPTION_ENDS");
  return ending.map((problem) => warn("exemptions", problem.message, `It is in ${placeText(toDiagnostic(problem, locate))}.`));
}

/**
 * A tag relation can only be created with a user who tags. Nothing else reports a missing user
 * before a relation is missing.
 */
export function taggedByCheck({ resources, settings }: Project): Check {
  const check = "tagged by";
  if (settings.defaults.taggedBy !== undefined) return ok(check, `New tag relations are created for ${settings.defaults.taggedBy}.`);
  const without = resources
    .filter(isTag)
    .filter(({ spec: { resources: declared = [], taggedBy } }) => declared.length > 0 && taggedBy === undefined);
  const [first] = without;
  if (first === undefined) return ok(check, "No manifest needs defaults.taggedBy.");
  return warn(
    check,
    `${counted(without.length, "Tag manifest")} with resources, such as ${first.address}, and no user who tags.`,
    "dimsync cannot attach a tag to another resource. Set defaults.taggedBy in dimsync.yaml to the e-mail address of a user.",
  );
}

/** Bindings without an object or a manifest, and creates with an unknown outcome. Without a client, nothing is read. */
export async function recordChecks(
  { resources }: Project,
  { bindings, open }: RecordsState,
  client: Client | undefined,
): Promise<readonly Check[]> {
  const declared = new Set(resources.map(({ address }) => address));
  // What was sent to the schemas of an integration is recorded under an address that no manifest has.
  const ofManifests = [...bindings].filter(([address]) => integrationOfSchemas(address) === undefined);
  const checks = await Promise.all(
    ofManifests.map(async ([address, { id }]): Promise<readonly Check[]> => {
      if (!declared.has(address))
        return [
          warn(
            "bindings",
            `${address} is bound to ${id}, but no manifest has that address.`,
            `To remove it: dimsync unbind ${shellWord(address)}`,
          ),
        ];
      return client !== undefined && (await isGone(client, address, id)) ? [goneCheck(address, id)] : [];
    }),
  );
  const found = checks.flat();
  return [...(found.length > 0 ? found : [ok("bindings", boundText(ofManifests.length))]), ...journalChecks(open)];
}

const boundText = (count: number): string =>
  count === 0 ? "There are no bindings yet." : `${counted(count, "binding")}, each with a manifest.`;

const goneCheck = (address: string, id: string): Check =>
  fail(
    "bindings",
    `${address} is bound to ${id}, which no longer exists in the account.`,
    `Remove the manifest. Or, to create it again: dimsync unbind ${shellWord(address)}`,
  );

function journalChecks(open: RecordsState["open"]): readonly Check[] {
  if (open.length === 0) return [ok("journal", "No create has an unknown outcome.")];
  return open.map(({ address, answeredId }) =>
    fail(
      "journal",
      `Whether ${address} was created is not known.`,
      `Look for it in the service. If it does not exist, pass --not-created instead of its id: ${resolveCommand(address, answeredId)}`,
    ),
  );
}

/** False for what the interface has no GET for, such as an asset. */
async function isGone(client: Client, address: string, id: string): Promise<boolean> {
  const list = kindNamed(kindOf(address) ?? "")?.list;
  return (
    list !== undefined &&
    (await readOr(
      () => client.one(list, id),
      () => null,
    )) === undefined
  );
}

/** Labels that nothing uses. None without a Classification. */
export function labelChecks({ resources, columnLabels }: Project): readonly Check[] {
  if (columnLabels === undefined) return [];
  const used = new Set(labelReferences(resources).flatMap(({ label }) => wantedLabels(label) ?? []));
  const unused = columnLabels.defined.filter((label) => !used.has(label));
  return [
    ...unused.map((label) =>
      warn(
        "labels",
        `No rule, policy or \`expect\` entry matches label ${JSON.stringify(label)}.`,
        "Its columns are only listed by dimsync register. Add a rule or a policy, or remove the label.",
      ),
    ),
    ...(unused.length > 0 ? [] : [ok("labels", `${counted(columnLabels.defined.length, "label")}, each used by a rule or a policy.`)]),
  ];
}

/** What the project reads and a run elsewhere may not have, and what it does not read although it looks as if it did. */
export function fileChecks({ problems, locate, settings }: Project, git: Plan["git"]): readonly Check[] {
  const check = "files";
  const { untracked = [] } = git ?? {};
  const found = [
    ...problems.filter(({ code }) => code === "W_LINK_SKIPPED" || code === "W_GLOB_NO_FILE"),
    ...ignoredFileProblems(git, settings),
  ].map((problem) => warning(check, toDiagnostic(problem, locate)));
  const added = untracked.map(shellWord).join(" ");
  const isNew = `The commit does not have ${counted(untracked.length, "file")} of the project: ${andMore(untracked, "file")}. Runs elsewhere, such as in CI, are without ${untracked.length === 1 ? "it" : "them"}.`;
  return [
    ...(git?.leftOut === undefined ? [] : leftOutProblems(git, settings.folder)).map(({ message, command = "" }) =>
      fail(check, message, `Run: ${command}`),
    ),
    ...found,
    ...(untracked.length === 0 ? [] : [warn(check, isNew, `Add ${untracked.length === 1 ? "it" : "them"} and commit: git add ${added}`)]),
  ];
}

/** What a plan of everything says of labels and of `ignore` entries. `planned`: its diagnostics; undefined: other checks failed. */
export async function unmatchedChecks(
  { columnLabels, settings: { ignore } }: Pick<Project, "columnLabels" | "settings">,
  planned: (() => Promise<readonly Diagnostic[]>) | undefined,
): Promise<readonly Check[]> {
  const asked = [
    ...(columnLabels === undefined
      ? []
      : [{ check: "labelled columns", codes: ["W_LABEL_NO_MATCH", "W_LABELS_DISAGREE"], passed: everyLabelFound }]),
    ...(ignore.length === 0
      ? []
      : [
          {
            check: "ignore",
            codes: ["W_IGNORE_NO_MATCH", "W_IGNORE_EXPIRED"],
            passed: "Each entry of `ignore` matches something in the account.",
          },
        ]),
  ];
  if (asked.length === 0) return [];
  if (planned === undefined) return asked.map(({ check }) => skip(check, "another check failed."));
  try {
    const diagnostics = await planned();
    return asked.flatMap(({ check, codes, passed }) => {
      const found = diagnostics.filter(({ code }) => codes.includes(code));
      return found.length === 0 ? [ok(check, passed)] : found.map((one) => warning(check, one));
    });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return asked.map(({ check }) => skip(check, `there is no plan. ${error.message}`));
  }
}

const everyLabelFound = "The account has a column for every source of dbt, line of CSV and pattern that has a label.";

/** A warning of the project or of a plan, whose message says what to do. */
function warning(check: string, { message, ...at }: Diagnostic): Check {
  const place = placeText(at);
  return { check, state: "warn", found: message, ...(place === "" ? {} : { advice: `It is in ${place}.` }) };
}
