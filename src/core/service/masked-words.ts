/** The secrets of a request, and the texts of its other members. */
export interface SentSecrets {
  readonly values: readonly string[];
  readonly others: readonly string[];
}

export const mask = "▒▒▒";

/** A shorter word is shown even if a secret contains it. */
const shortestTelling = 4;

/**
 * The parts of a response, joined, with a mask for each word that could come from a secret. A word is shown if it is in the fixed list
 * of plain words, or in another member of the request, and in no secret. Undefined if the text repeats a secret.
 */
export function maskedWords([first = "", ...rest]: readonly string[], { values, others }: SentSecrets): string | undefined {
  const secrets = values.map(folded).filter((secret) => secret !== "");
  const sent = new Set(others.flatMap((text) => wordsOf(text).map(folded)));
  const text = [first, ...rest].join(": ");
  const letters = lettersOf(text);
  if (values.map(lettersOf).some((secret) => secret.length >= shortestTelling && letters.includes(secret))) return undefined;
  const isShown = (word: string): boolean => {
    const plain = folded(word);
    if (plain.length >= shortestTelling && secrets.some((secret) => secret.includes(plain))) return false;
    if (plainWords.has(plain) || (sent.has(plain) && !secrets.some((secret) => secret.includes(plain)))) return true;
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u);
    return parts.length > 1 && parts.every(isShown);
  };
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part, index) => (index % 2 === 1 ? (isShown(part) ? part : mask) : part.replace(/[^\s.,:;'"()_/-]+/gu, mask)))
    .join("")
    .replaceAll(/▒▒▒(?:[._/-]*▒▒▒)+/gu, mask);
}

const wordsOf = (text: string): readonly string[] =>
  text.split(/[^\p{L}\p{N}]+/u).flatMap((word) => [word, ...word.split(/(?<=\p{Ll})(?=\p{Lu})/u)]);

const folded = (text: string): string => text.normalize("NFKC").toLowerCase();

const lettersOf = (text: string): string => folded(text).replace(/[^\p{L}\p{N}]+/gu, "");

/** Words of error messages and of the interface. A text of only these words reveals no secret. */
const plainWords: ReadonlySet<string> = new Set(
  `a about above accept accepted access account active after again agent agents all allowed already also an and another any api app append
  are argument array as asset assets at attempt attempts auth authentication authmethod authorization authorized available bad base be because
  been before begin being between blank boolean both bucket but by call can cannot capture case change changed changes changing character
  characters check client closed cluster code collection column columns config configuration configured conflict conflicts connect connected
  connecting connection connections connectiontype connector contain contains could create created creating creation credential credentials
  cron cronexpression current currently cursor customer data database databases date default delete deleted denied described description
  destination destinationid destinations destinationschema detail details did different direct disabled disallowed do does domain done draft
  driver duplicate duplicated each either email empty enabled encoding encryption end endpoint engine enter entity entry error errors exceed
  exceeded exceeds except exist existing exists expected expired expression fail failed fails failure false field fields file find first
  for forbidden form format forms found frequency from full gateway get given go greater group had handle handshake has have header host
  hostname hour hours http https i id identifier ids if in inactive incorrect incremental incrementalmode index initial input insert instance
  insufficient integer integration integrations internal into invalid is isn't issue it items its join json keep key keypair keys kind known
  large last later least length less level limit limits line list load location lock locked log logged logical login long longer lookup
  maintenance make malformed many match matches max maximum maxclients may memory message method minimum minute minutes mismatch missing mode
  modes monitor more most must name named names namespace need needed needs network never new no non none not notfound now null number oauth
  object of off offline ok on once one only open operation option options or other others out outside over own owner owners parameter
  parameters part password path payload pending per permission permissions permitted plan please plugin policy pool port postgres postgresql
  present previous primary private privilege privileges problem project properties property protocol provide provided public publication
  publications put query quota rate reach reachable reached read reading reason received recognized reference refused region reject rejected
  relation replica replication replicationfrequency request requested requests require required requires reserved resource resources response
  restricted retry role roles root row rows rule run running same schema schemas schema's second seconds secret security select selected server
  service services session set settings shared short should signature since size slot slots snapshot snowflake some source sourceconfig
  sourceid sources sourcesettings space specified specify ssh ssl standard start state status still stopped storage store string strings
  subnet success such suffix superuser support supported switch sync syntax system table tables tag tags tenant test than that the their them
  then there these they this time timed timeout times tls to token too transaction true try tunnel type types unable unauthorized unavailable
  under unexpected unique unit unknown unreachable unrecognized unsupported until up update updated updates url use used user username users
  uses using valid validate validation value values version wait wal warehouse was we were when where whether which while who whole will with
  within without word workspace write writing wrong yes yet you your zone`.split(/\s+/u),
);
