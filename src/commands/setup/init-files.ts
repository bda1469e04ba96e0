import { schemaText } from "../../manifests/schema/lookup.ts";
import { version } from "../../model/runtime/version.ts";
import { type CiSystem, ciFiles } from "./workflows/index.ts";

/** Texts by path. */
type Files = Readonly<Record<string, string>>;

/**
 * What `dimsync init` writes below the project's folder, and below the top of the repository. `baseUrl`: of the account, if
 * the environment names it. `targets`: those of an existing config. `approval`: apply waits for the
 * approval of its plan. `folder`: of the project in the repository.
 */
export function initFiles(options: {
  readonly baseUrl?: string | undefined;
  readonly targets: readonly string[];
  /** Of the targets of an existing config. */
  readonly hosts: readonly string[];
  readonly approval: boolean;
  readonly ci: CiSystem;
  readonly folder: string;
}): { readonly project: Files; readonly repository: Files } {
  const { baseUrl = "https://api.example.com", targets, approval, ci, folder } = options;
  const hosts = options.hosts.length > 0 ? options.hosts : hostsOf([baseUrl]);
  const project = {
    "dimsync.yaml": configText(baseUrl),
    "manifests/README.md": manifestsReadme,
    "schema/config.schema.json": schemaText("Config") ?? "",
    "schema/manifest.schema.json": schemaText("Manifest") ?? "",
    ".gitignore": ".dimsync/\nnode_modules/\nplan.json\n*.plan.json\n",
  };
  return { project, repository: ciFiles(ci, { version, targets, hosts, approval, folder }) };
}

/** The hosts that get an API key: not those of an embedded account. */
export const hostsOf = (baseUrls: readonly string[]): readonly string[] => [
  ...new Set(baseUrls.flatMap((url) => (/^https?:/u.test(url) && URL.canParse(url) ? [new URL(url).hostname] : []))),
];

/** The target in the config that init writes. */
export const firstTarget = "prod";

const configText = (baseUrl: string): string => `# yaml-language-server: $schema=./schema/config.schema.json
apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  ${firstTarget}:
    baseUrl: ${/^[\w:/.-]+$/u.test(baseUrl) ? baseUrl : JSON.stringify(baseUrl)}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
`;

const manifestsReadme = `# Manifests

The YAML files in this folder describe the desired state of the account. Each integration, schema
configuration, tag and asset has one document:

\`\`\`yaml
# yaml-language-server: $schema=../schema/manifest.schema.json
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas:
    public:
      tables:
        customers: { columns: { email: { hashed: true } } }
---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec:
  match: { name: Orders } # an existing integration
\`\`\`

\`dimsync schema KIND\` prints the JSON Schema of a kind, \`dimsync get integrations\` lists the live
integrations, and \`dimsync validate\` checks the files.
`;
