const plain = /^\$?[\p{L}_][\p{L}\p{N}_-]*(?:[./@+ ][\p{L}\p{N}_-]+)*$/u;
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/iu;

/**
 * Whether YAML 1.1 and 1.2 read the text as the same string without quotes: as a key and as a
 * value, in block and in flow style.
 */
export const isPlainScalar = (text: string): boolean => plain.test(text) && !reserved.test(text);
