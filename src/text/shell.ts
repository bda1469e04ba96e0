/** The text as one word of a POSIX shell, quoted only if it has to be. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
