import { schemaText } from "../../manifests/schema/lookup.ts";
import { version } from "../../model/version.ts";
import { workflows } from "./init-workflows.ts";

/** What `dimsync init` writes: texts by path below the project's folder. `baseUrl`: the account's, where the environment names it. */
export function initFiles(baseUrl?: string): Readonly<Record<string, string>> {
  const { plan, apply, drift } = workflows(version);
  return {
    "dimsync.yaml": configText(baseUrl ?? "https://api.example.com"),
    "manifests/README.md": manifestsReadme,
    "schema/config.schema.json": schemaText("Config") ?? "",
    "schema/manifest.schema.json": schemaText("Manifest") ?? "",
    ".gitignore": ".dimsync/\nnode_modules/\n",
    ".github/workflows/dimsync-plan.yml": plan,
    ".github/workflows/dimsync-apply.yml": apply,
    ".github/workflows/dimsync-drift.yml": drift,
  };
}

const configText = (baseUrl: string): string => `# yaml-language-server: $schema=./schema/config.schema.json
apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
bindings: dimsync.bindings.yaml # written by import and apply; commit it
targets:
  prod:
    baseUrl: ${/^[\w:/.-]+$/u.test(baseUrl) ? baseUrl : JSON.stringify(baseUrl)}
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
`;

const manifestsReadme = `# Manifests

YAML files in this folder say what the account should be, one document for each integration, schema configuration, tag and asset:

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
  match: { name: Orders } # an integration that is there already
\`\`\`

\`dimsync schema KIND\` prints what a kind may hold, \`dimsync get integrations\` what is there, \`dimsync validate\` checks the files.
`;
