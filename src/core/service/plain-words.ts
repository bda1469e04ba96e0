/** Words of error messages and of the interface. A text of only these words reveals no secret. */
export const plainWords: ReadonlySet<string> = new Set(
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
