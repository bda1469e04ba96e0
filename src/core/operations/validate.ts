import { combineExits, type Exit } from "../base/model/exit.ts";
import { findingsOf } from "../base/model/findings.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import type { Validation } from "../base/model/plan.ts";
import { type Diagnostic, diagnosticsIn, isError, type Problem, toDiagnostic } from "../base/model/problem.ts";
import { isLocal, type Settings } from "../base/model/settings/config.ts";
import { grouped, targetList } from "../base/text/lists.ts";
import { withTarget } from "../base/text/shell.ts";
import { sortDiagnostics } from "../base/text/signs.ts";
import { literalProblems, policiesIn, policyProblems } from "../columns/policies/index.ts";
import { conflicts, declaredPriorityProblems, kindNames, ruleProblems } from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";
import { allowances, type BaseProject, exemptionProblems, ignoredFileProblems, leftOutProblems } from "../plan/index.ts";
import { catalogProblems, projectGitState } from "./base.ts";

/** The same for several targets, as one document: what all of them have in common is in it once. `baseOf`: see `validateProject`. */
export async function validateProjects(
  projects: readonly Project[],
  baseOf: (project: Project) => Promise<BaseProject | undefined> = async () => undefined,
): Promise<Validation> {
  const validations = await Promise.all(projects.map(async (project) => validateProject(project, await baseOf(project))));
  const [first, ...others] = validations;
  if (first !== undefined && others.length === 0) return first;
  const targets = projects.map(({ settings: { target } }) => target);
  const found = validations.flatMap((validation, index) =>
    diagnosticsIn(validation).map((diagnostic) => ({ diagnostic, target: targets[index] ?? "" })),
  );
  const diagnostics = grouped(found, ({ diagnostic: { command: _, ...rest } }) => JSON.stringify(rest)).map((group): Diagnostic => {
    const [{ diagnostic }] = group;
    if (group.length === projects.length) return diagnostic;
    return { ...diagnostic, message: `${diagnostic.message} Only in ${targetList(group.map(({ target }) => target))}.` };
  });
  const given = validations.flatMap((validation) => [...findingsOf(validation, "loosened"), ...findingsOf(validation, "released")]);
  const loosened = grouped(given, (finding) => JSON.stringify(finding)).map(([finding]) => finding);
  const placeOf = ({ place: { file, document } }: Pick<Manifest, "place">): string => `${file}#${document}`;
  return {
    kind: "Validation",
    targets,
    manifests: new Set(projects.flatMap(({ manifests, elsewhere }) => [...manifests, ...elsewhere].map(placeOf))).size,
    files: new Set(projects.flatMap(({ files }) => files)).size,
    findings: [...sortDiagnostics(diagnostics), ...loosened],
    exit: combineExits(validations.map(({ exit }) => exit)),
  };
}

/** Everything that can be checked without the account. Sends no request. `base`: says what the manifests give up since it, too. */
export async function validateProject(project: Project, base?: BaseProject): Promise<Validation> {
  const asked = projectGitState(project, new AbortController().signal);
  const { problems, locate, manifests, isDeclared, columnLabels, files, settings, configFile } = project;
  const ofManifests = [
    ...ruleProblems(manifests, { isUnread: (name) => isDeclared(kindNames.ruleSet, name), isDocumented: settings.extended !== true }),
    ...declaredPriorityProblems(manifests),
    ...policyProblems(manifests),
  ];
  const today = new Date().toISOString().slice(0, 10);
  const hasIgnores = settings.ignore.some(({ address }) => /^(?:Schema(?:Config|s)\/|[^/]*[*?[{!])/u.test(address));
  const git = await asked;
  const found = [
    ...problems,
    ...ofManifests,
    ...catalogProblems({ settings, manifests }),
    ...allowances(settings.allow, today).problems,
    ...exemptionProblems(policiesIn(manifests), today),
    ...literalProblems(manifests, { today, ignoring: hasIgnores, labels: columnLabels }),
    ...(await conflictProblems(manifests, settings)),
    ...leftOutProblems(git, settings.folder),
    ...ignoredFileProblems(git, settings),
  ];
  const diagnostics = sortDiagnostics(
    found.map((problem) => withTarget(toDiagnostic(configFile === undefined ? required(problem) : problem, locate), settings)),
  );
  const failed = diagnostics.some(isError);
  const loosened = base === undefined ? [] : await (await import("../plan/index.ts")).loosenedInFiles({ base, head: project, today });
  const isStrict = [base?.settings?.review, settings.review].includes("strict");
  const exit: Exit = failed
    ? { code: 1, reasons: ["errors"] }
    : isStrict && loosened.length > 0
      ? { code: 3, reasons: ["loosened"] }
      : { code: 0, reasons: [] };
  return { kind: "Validation", manifests: manifests.length, files: files.length, findings: [...diagnostics, ...loosened], exit };
}

/**
 * Manifests that describe the same object, unless they are bound to different ids, in this target or another one: then `plan` blocks them where they
 * are not bound. Only bindings in a file are read: `validate` sends no request, and `plan` checks it with any store.
 */
async function conflictProblems(manifests: readonly Manifest[], { records, bindingsFile }: Settings): Promise<readonly Problem[]> {
  const found = conflicts(manifests, new Map());
  if (found.length === 0 || !isLocal(records)) return [];
  const { readAllBindings } = await import("../records/folder/index.ts");
  const known = await readAllBindings(bindingsFile);
  return found
    .filter(({ pair }) => known.every((bindings) => conflicts(pair, bindings).length > 0))
    .map(({ pair: [, second], message, pointer }) => problemIn(second, pointer, { code: "E_SHARED_IDENTITY", message }));
}

/** Without a config, an empty folder is probably the wrong one. */
function required(problem: Problem): Problem {
  return problem.code === "W_NO_MANIFESTS" ? { ...problem, code: "E_NO_MANIFESTS", severity: "error" } : problem;
}
