/** A manifest that creates the integration `returns`, for tests that need a POST. */
export function returnsManifest({
  destination,
  secretEnv,
  owners = "[]",
}: {
  /** YAML: "{ id: d-12 }", "{ asset: lake }". */
  readonly destination: string;
  /** The variable with the database's password. */
  readonly secretEnv: string;
  /** As it is written. */
  readonly owners?: string;
}): string {
  return `apiVersion: dimsync/v1
kind: Integration
metadata: { name: returns }
spec:
  destination: ${destination}
  create:
    destinationSchema: returns
    replicationFrequency: '60'
    onSchemaUpdate: enableColumnChanges
    enabled: false
    sourceConfig:
      type: postgres
      name: returns-pg
      authMethod: direct
      connectionType: source
      owners: ${owners}
      connection:
        hostname: db.internal
        port: 5432
        database: orders
        username: replicator
        password: { $secret: { env: ${secretEnv} } }
        slot: s1
        publication: p1
    sourceSettings: { max_clients: 4, incremental_mode: Change Stream }
`;
}
