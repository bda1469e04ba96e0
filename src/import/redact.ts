/** What stands for a credential. */
const blank = "(redacted)";

// Forms that are credentials whatever stands around them. A word such as "token" alone is none.
const forms: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/giu,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu,
  /\b(?:gh[opsu]_|github_pat_|glpat-|xox[abprs]-|sk-)[\w-]{16,}/gu,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/gu,
  /(?<=\b(?:password|passwd|pwd|secret|token|api[_-]?key|private[_-]?key|passphrase)\b["']?\s*[=:]\s*["']?)[^\s"',;]+/giu,
];

/** Free text without what looks like a credential: people write them into descriptions. Text without one is the same text. */
export function redact(text: string): string {
  return forms.reduce((left, form) => left.replaceAll(form, blank), text);
}
