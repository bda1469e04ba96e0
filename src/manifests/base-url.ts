/** A base URL without the slashes at its end; or a sentence that says what is wrong with it, without quoting it, since it may hold a password. */
export function readBaseUrl(text: string): { readonly baseUrl: string } | { readonly fault: string } {
  if (text.startsWith("embedded:")) {
    return text === "embedded:" ? { fault: "embedded: is followed by the path of a file." } : { baseUrl: text };
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { fault: "The base URL is no URL. Write https://HOST, or embedded:FILE for the in-process service." };
  }
  if (url.username !== "" || url.password !== "")
    return { fault: "The base URL holds a user name or a password. Remove them; the key goes into apiKey." };
  if (url.search !== "" || url.hash !== "") return { fault: "The base URL has a part after ? or #. Remove it." };
  if (url.protocol === "https:") return { baseUrl: text.replace(/\/+$/u, "") };
  if (url.protocol !== "http:") return { fault: "The base URL must begin with https://, or be embedded:FILE." };
  if (!isLoopback(url.hostname)) return { fault: "http would send the key in clear. Use https; http is for loopback addresses only." };
  return { baseUrl: text.replace(/\/+$/u, "") };
}

const isLoopback = (host: string) =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(?:\.[0-9]{1,3}){3}$/u.test(host);
