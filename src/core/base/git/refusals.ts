// Git ends with 128 whatever failed, and ssh and forges say no more than a line of text. So this is the only file that decides by what
// they print (in English: git runs with LC_ALL=C). It decides how long to try again and how to word a message, never what was written:
// that is read from the ref.

const denied =
  /error: 40[13]\b|authentication failed|could not read (?:username|password)|permission denied|access denied|host key verification failed|marked as read only|not allowed to push/iu;
const missing = /error: 404|not found|does not appear to be a git repository/iu;

/** Whether the server did not let this client in, so that it did not even look at a push. */
export const isDenied = (words: string): boolean => denied.test(words);

/** Whether reading again would fail in the same way. */
export const isHopeless = (words: string): boolean => isDenied(words) || missing.test(words);
