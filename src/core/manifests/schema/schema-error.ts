/**
 * An error of a validator that ajv compiled, with the members that dimsync uses. Declared here so that
 * the published types do not need ajv.
 */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  // biome-ignore lint/suspicious/noExplicitAny: ajv's own type; each keyword has other parameters
  readonly params: Record<string, any>;
  readonly propertyName?: string;
  readonly message?: string;
  readonly data?: unknown;
}
