/** The code of a connection error: "ECONNREFUSED", "UND_ERR_SOCKET"; "" if it has none. */
export function connectionCode(error: Error): string {
  return codeOf(firstError(error)) || codeOf(error);
}

/** Whether the error means that the connection was not established in time. */
export const isConnectTimeout = (error: Error): boolean => codeOf(error) === "UND_ERR_CONNECT_TIMEOUT";

/**
 * The code and Node's sentence about a connection that was not established. It names the host, and
 * cannot contain text of a response.
 */
export function connectErrorText(error: Error): string {
  const { message } = firstError(error);
  const code = connectionCode(error);
  return code === "" || message.includes(code) ? message : `${code}: ${message}`;
}

/** Node tries several addresses of a host and reports all failures together. */
function firstError(error: Error): Error {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first : error;
}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "");
