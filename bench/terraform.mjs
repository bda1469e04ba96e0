// Terraform in W1 and W2, with the provider of bench/peers/terraform-provider, if this machine has
// Terraform and Go.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { integrationId, integrationName } from "./account.mjs";
import { runOnce } from "./measure.mjs";

const source = "example.com/bench/bench";

/** What this machine lacks for Terraform's rows: nothing, or a text. */
export function missingForTerraform() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const missing = ["terraform", "go"].filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  return missing.length === 0 ? undefined : `not measured: ${missing.join(" and ")} not in PATH`;
}

/** A file for TF_CLI_CONFIG_FILE with which Terraform uses the provider. The provider is built once. */
function cliConfig(bench) {
  const folder = join(bench.folder, "terraform-provider");
  const file = join(folder, "terraform.rc");
  if (existsSync(file)) return file;
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-p=1", GOPROXY: "off", GOTOOLCHAIN: "local", GOWORK: "off" };
  const build = ["build", "-o", join(folder, "terraform-provider-bench"), "."];
  execFileSync("go", build, { cwd: join(bench.root, "bench/peers/terraform-provider"), env, stdio: "inherit" });
  writeFileSync(file, `provider_installation {\n  dev_overrides { ${JSON.stringify(source)} = ${JSON.stringify(folder)} }\n}\n`);
  return file;
}

/** A string attribute for each file in the folder "schemas", with the value of this expression. */
const resourceOfFiles = (ending, expression) => `resource "bench_schemas_json" "all" {
  for_each       = { for file in fileset("schemas", "*${ending}") : trimsuffix(file, "${ending}") => "schemas/\${file}" }
  integration_id = each.key
  schemas        = ${expression}
}
`;

const files = (manifests, ending, content) =>
  Object.fromEntries(manifests.map((each, i) => [`schemas/${integrationId(i)}${ending}`, content(each)]));

/** The files of a project for these manifests ({ text, schemas }), in each form that a user could choose. */
const forms = {
  // The least work for Terraform, which does not parse these files.
  tuned: (manifests) => ({
    "main.tf": resourceOfFiles(".json", "file(each.value)"),
    ...files(manifests, ".json", ({ schemas }) => JSON.stringify(schemas)),
  }),
  // The same manifests that dimsync reads.
  "YAML files": (manifests) => ({
    "main.tf": resourceOfFiles(".yaml", "jsonencode(yamldecode(file(each.value)).spec.schemas)"),
    ...files(manifests, ".yaml", ({ text }) => text),
  }),
  "HCL as one string": (manifests) => hclFiles(manifests, "bench_schemas_json", (schemas) => `jsonencode(${hcl(schemas, "  ")})`),
  // Nested maps as typed attributes, as in the providers of other data integration services.
  idiomatic: (manifests) => hclFiles(manifests, "bench_schemas", (schemas) => hcl(schemas, "  ")),
};

/** One file with one resource for each integration. */
function hclFiles(manifests, type, print) {
  const resource = (name, id, schemas) =>
    `resource "${type}" "${name}" {\n  integration_id = "${id}"\n  schemas        = ${print(schemas)}\n}\n`;
  return Object.fromEntries(
    manifests.map(({ schemas }, i) => [`${integrationName(i)}.tf`, resource(integrationName(i), integrationId(i), schemas)]),
  );
}

function hcl(value, indent) {
  if (typeof value !== "object") return String(value);
  const lines = Object.entries(value).map(([name, each]) => `${indent}  ${name} = ${hcl(each, `${indent}  `)}\n`);
  return `{\n${lines.join("")}${indent}}`;
}

/**
 * A Terraform project for these manifests in each form; none if Terraform or Go is missing. An apply writes
 * the state, so the account must match the manifests. Resolves with contestants that run `terraform` with
 * `args`; before each run, the state is as that apply wrote it.
 */
export async function terraformProjects(bench, name, { manifests, args }) {
  if (missingForTerraform() !== undefined) return [];
  const env = {
    TF_CLI_CONFIG_FILE: cliConfig(bench),
    TF_IN_AUTOMATION: "1",
    CHECKPOINT_DISABLE: "1",
    BENCH_BASE_URL: bench.base,
    BENCH_API_KEY: bench.key,
  };
  const projects = [];
  for (const [form, filesOf] of Object.entries(forms)) {
    const cwd = join(bench.folder, `${name}-terraform-${form}`);
    rmSync(cwd, { recursive: true, force: true });
    mkdirSync(join(cwd, "schemas"), { recursive: true });
    writeFileSync(join(cwd, "provider.tf"), `terraform {\n  required_providers {\n    bench = { source = "${source}" }\n  }\n}\n`);
    for (const [path, text] of Object.entries(filesOf(manifests))) writeFileSync(join(cwd, path), text);
    const terraform = (...words) => ({ command: ["terraform", ...words, "-no-color", "-input=false"], cwd, env });
    await runOnce(terraform("apply", "-auto-approve"));
    const state = join(cwd, "terraform.tfstate");
    copyFileSync(state, join(cwd, "state-before"));
    const before = () => copyFileSync(join(cwd, "state-before"), state);
    projects.push({ name: `Terraform (lean provider, ${form})`, ...terraform(...args), before });
  }
  return projects;
}
