import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Shows and repairs what dimsync remembers between runs. For whoever operates dimsync after something went wrong.

const bindOptions = {
  "--accept": "Record that the live object now matches the manifest, after a change by hand",
} as const satisfies Options;

export interface BindFlags extends GlobalFlags, FlagsOf<typeof bindOptions> {}

export const bindCommand = declared({
  usage: "bind <address=id...>",
  description: "Record the live id of a manifest. With --accept, the argument is only the address.",
  options: bindOptions,
  examples: ["dimsync bind Asset/warehouse=d-12", "dimsync bind --accept Integration/orders"],
  load: async () => (await import("./bind-command.ts")).runBind,
});

export const unbindCommand = declared({
  usage: "unbind <address...>",
  description: "Remove a recorded id",
  examples: ["dimsync unbind Asset/warehouse"],
  load: async () => (await import("./bind-command.ts")).runUnbind,
});

const resolveOptions = {
  "--created <id>": "The object was created with this id. Checked against the lists of the account",
  "--not-created": "The object was not created",
  "--reason <text>": "Why what was kept hashed or disabled is given up",
} as const satisfies Options;

export interface ResolveFlags extends GlobalFlags, FlagsOf<typeof resolveOptions> {}

export const resolveCommand = declared({
  usage: "resolve <address> [path]",
  description:
    "Resolve a create whose response was lost. Until then, its address is blocked. With --reason, give up what was kept hashed or disabled, of an integration or of a schema, table or column.",
  options: resolveOptions,
  examples: [
    "dimsync resolve Integration/orders --created 8f1c",
    "dimsync resolve Integration/orders --not-created",
    "dimsync resolve Schemas/orders public.users.email --reason 'dropped in the source'",
  ],
  load: async () => (await import("./resolve-command.ts")).runResolve,
});

const recordsOptions = {
  "--reason <text>": "lock: why; shown to everyone who finds the target locked",
  "--until <time>": "lock: when the lock ends, such as 2027-01-31T18:00:00Z",
  "--to <store>": "init, migrate: folder, git, git:REF or postgres (default for init: git)",
  "--print": "init, migrate: print the config instead of writing dimsync.yaml",
} as const satisfies Options;

export interface RecordsFlags extends GlobalFlags, FlagsOf<typeof recordsOptions> {}

export const recordsCommand = declared({
  usage: "records <task> [file]",
  description: "Show, lock, move and save records. Tasks: show, lock, unlock, init, migrate, export, restore.",
  options: recordsOptions,
  load: async () => (await import("./records-command.ts")).runRecords,
});
