import { createHash, createHmac, timingSafeEqual } from "node:crypto";

// A person signs in with the token and gets a cookie for it. The cookie has no part of the token: it is the time at which
// it ends and the HMAC of that time. So no process has to keep sessions, all pages of a controller accept it, and a new
// token ends all sessions.

const lifetimeMs = 7 * 86_400_000;
const cookieName = "dimsync_session";

/** Compares in a time that depends neither on the text nor on its length. */
export const isEqual = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const signature = (token: string, end: string): string =>
  createHmac("sha256", token).update(`dimsync controller session until ${end}`).digest("base64url");

interface CookieOptions {
  /** "/dimsync": other pages of the host do not get the cookie. */
  readonly base: string;
  readonly isSecure: boolean;
}

/** `Set-Cookie` for a new session. */
export function sessionCookie(token: string, now: Date, options: CookieOptions): string {
  const end = String(now.getTime() + lifetimeMs);
  return cookie(`${end}.${signature(token, end)}`, lifetimeMs / 1000, options);
}

/** `Set-Cookie` that deletes the session from the browser. */
export const endedCookie = (options: CookieOptions): string => cookie("", 0, options);

const cookie = (value: string, seconds: number, { base, isSecure }: CookieOptions): string =>
  `${cookieName}=${value}; Path=${base === "" ? "/" : base}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;

/** Whether the cookies have a session of this token that has not ended. */
export function hasSession(token: string, cookies: string | undefined, now: Date): boolean {
  const found = (cookies ?? "").matchAll(/(?:^|;) *dimsync_session=(\d{1,15})\.([\w-]{43})(?=;|$)/gu);
  return [...found].some(([, end = "", given = ""]) => Number(end) > now.getTime() && isEqual(given, signature(token, end)));
}

const longestPath = 2_000;

/** Path and query to go to after signing in. "/" for anything that leads elsewhere, such as "//example.com". */
export function pathWithin(text: string): string {
  const here = "http://here.invalid";
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(text) || text.length > longestPath || !URL.canParse(text, here)) return "/";
  const { origin, pathname, search } = new URL(text, here);
  return origin === here && !pathname.startsWith("//") ? pathname + search : "/";
}

const mostWrong = 10;
const windowMs = 60_000;

/** Counts one more wrong token of the address, and returns how to refuse it. */
export type RefuseToken = (address: string, now: Date) => "unauthorized" | "blocked";

/**
 * Blocks an address after ten wrong tokens in a minute, in the form and as Bearer. Only wrong tokens are blocked: behind a proxy all clients
 * have one address, and nobody must be able to keep the others out. The token has at least 16 characters, so it cannot be guessed.
 */
export function refuseTokens(): RefuseToken {
  const counts = new Map<string, number>();
  let window = 0;
  return (address, now) => {
    const current = Math.floor(now.getTime() / windowMs);
    if (current !== window) counts.clear();
    window = current;
    const count = counts.get(address) ?? 0;
    counts.set(address, count + 1);
    return count >= mostWrong ? "blocked" : "unauthorized";
  };
}
