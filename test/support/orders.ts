/**
 * Manifests of the seeded integration `orders`, and of columns in its table public.customers: YAML such as
 * `email: { hashed: true }`.
 */
export const ordersManifest = (columns: string): string => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { columns: { ${columns} } } } } }
`;
