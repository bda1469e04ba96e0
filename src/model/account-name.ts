/** Where an account is, as plans name it: the origin of the base URL, without path or credentials, or `embedded:FILE`. */
export function accountName(baseUrl: string): string {
  return URL.canParse(baseUrl) && !baseUrl.startsWith("embedded:") ? new URL(baseUrl).origin : baseUrl;
}
