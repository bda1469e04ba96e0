import type { AccountState, IntegrationRecord } from "../../../src/embedded/index.ts";

/** A resource of a Terraform state with one instance. */
const resource = (type: string, name: string, attributes: object, more: object = {}) => ({
  mode: "managed",
  type: `example_${type}`,
  name,
  provider: 'provider["registry.terraform.io/example/example"]',
  ...more,
  instances: [{ schema_version: 0, attributes, sensitive_attributes: [[{ type: "get_attr", value: "connection_secrets" }]] }],
});

export const canary = "canary-of-the-state";

/** Names of resources have no other characters. */
const identifier = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");

const secrets = JSON.stringify({ password: canary, ssh: { private_key: canary } });

/** What the provider keeps of an account: four resources for each integration, and one for each asset that is not a source. `config`: changes the intended schemas of an integration. */
export function terraformState(account: AccountState, config: (of: IntegrationRecord) => object = ({ schemas }) => schemas): string {
  const integrations = account.integrations.filter(({ kind }) => kind === undefined);
  const sources = new Set(integrations.map(({ source }) => source.id));
  const ofIntegrations = integrations.flatMap((one) => {
    const { id, settings, source, destination } = one;
    const name = identifier(one.name);
    const at = one.name.startsWith("shop-") ? { module: `module.shops["${one.name}"]` } : {};
    const { replicationFrequency, cronExpression = null, baseTime = null, destinationSchema, onSchemaUpdate, agentId = null } = settings;
    const { connection = {} } = account.assets.find((asset) => asset.id === source.id) ?? {};
    return [
      resource("source", name, { ...source, connection_config: JSON.stringify(connection), connection_secrets: secrets }, at),
      resource(
        "integration",
        name,
        {
          id,
          name: one.name,
          paused: one.paused,
          source_id: source.id,
          destination_id: destination.id,
          destination_schema: destinationSchema,
          on_schema_update: onSchemaUpdate,
          agent_id: agentId,
        },
        at,
      ),
      resource(
        "integration_schedule",
        name,
        {
          integration_id: id,
          replication_frequency: replicationFrequency === "60" ? "hourly" : replicationFrequency,
          cron_expression: cronExpression,
          base_time: baseTime,
        },
        at,
      ),
      resource("integration_schema", name, { integration_id: id, config: JSON.stringify({ schemas: config(one) }) }, at),
    ];
  });
  const others = account.assets.filter(({ id, connectionType }) => !sources.has(id) && connectionType !== "source");
  const ofAssets = others.map(({ id, name, type, description, connectionType }) =>
    resource(connectionType === "multi_purpose" ? "asset" : "destination", identifier(name), {
      id,
      name,
      type,
      description,
      connection_type: connectionType,
      connection_secrets: secrets,
    }),
  );
  const other = {
    ...resource("random", "id", { id: "x" }),
    type: "random_id",
    provider: 'provider["registry.terraform.io/hashicorp/random"]',
  };
  return JSON.stringify({
    version: 4,
    terraform_version: "1.11.4",
    resources: [...ofIntegrations, ...ofAssets, other],
    outputs: { key: { value: canary } },
  });
}
