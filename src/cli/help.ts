import type { Argument, Command, Help, Option } from "commander";
import type { ExitCode } from "../core/model/exit.ts";

/** Commander's help, with the commands before the options. */
export function formatHelp(command: Command, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const item = (term: string, description: string): string => helper.formatItem(term, width, description, helper);
  const commands = [...helper.groupItems([...command.commands], helper.visibleCommands(command), (one) => one.helpGroup())];
  const options = [...helper.groupItems([...command.options], helper.visibleOptions(command), (one) => one.helpGroupHeading ?? "Options:")];
  const section = (title: string, items: readonly string[]): string => [title, ...items, ""].join("\n");
  return [
    `Usage: ${helper.commandUsage(command)}`,
    "",
    helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
    "",
    ...commands.map(([title, ones]) =>
      section(
        title,
        ones.map((one) => item(helper.subcommandTerm(one), helper.subcommandDescription(one))),
      ),
    ),
    ...options.map(([title, ones]) =>
      section(
        title,
        ones.map((one) => item(helper.optionTerm(one), helper.optionDescription(one))),
      ),
    ),
  ].join("\n");
}

/** Commander would add "(choices: …)" and empty defaults. */
export const optionDescription = ({ description }: Option): string => description;

/** "plan|diff [path...]", without "[options]". */
export function subcommandTerm(command: Command): string {
  const names = [command.name(), ...command.aliases()].join("|");
  return [names, ...command.registeredArguments.map(argumentTerm)].join(" ");
}

function argumentTerm(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** What follows the options: examples, then the exit codes or where the global options are. */
export function afterHelp(command: Command): string {
  const lines = examples[command.name()] ?? [];
  const shown = lines.length === 0 ? [] : ["Examples:", ...lines.map((line) => `  ${line}`), ""];
  return [
    "",
    ...shown,
    command.parent === null ? exitCodesAt(command.configureOutput().getOutHelpWidth?.() ?? 80, command) : globalOptions,
  ].join("\n");
}

const globalOptions = 'Use "dimsync --help" for the global options (-C, --config, -t, --var, --only, -o, ...).';

const exitCodes = {
  0: "success",
  1: "error: usage, config, manifests, secrets, or a failed read",
  2: "changes (plan --detailed-exitcode), drift (drift), or what --fail-on names",
  3: "a guard or a policy refuses; for drift, the account violates a policy",
  4: "apply incomplete",
  5: "saved plan stale, expired, for another target, changed, or already applied",
  6: "locked by another run",
  130: "interrupted (129 after SIGHUP, 143 if SIGTERM ended the command at once)",
} as const satisfies Readonly<Record<ExitCode, string>>;

function exitCodesAt(helpWidth: number, command: Command): string {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth });
  const lines = Object.entries(exitCodes).map(([code, meaning]) => helper.formatItem(code, 3, meaning, helper));
  return [
    "Exit codes:",
    ...lines,
    "",
    helper.boxWrap('Use "dimsync <command> --help" for the options and examples of a command.', helpWidth),
  ].join("\n");
}

/** By command; those of `dimsync` are for the whole program. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  dimsync: [
    "dimsync init --from-live  # manage an account that exists",
    "dimsync plan              # show what apply would change",
    "dimsync apply             # plan, ask, apply",
    "dimsync drift             # exit with 2 if there is drift",
  ],
  validate: ["dimsync validate", "dimsync validate manifests/orders.yaml", "dimsync validate -o sarif=problems.sarif"],
  plan: [
    "dimsync plan",
    "dimsync plan --only 'Schemas/*' --detailed-exitcode",
    "dimsync plan --out plan.json && dimsync apply plan.json",
    "dimsync plan -o markdown=plan.md -o json=plan.json",
  ],
  apply: [
    "dimsync apply",
    "dimsync apply --yes --result result.json",
    "dimsync apply plan.json",
    'dimsync apply --allow maxCreates="first rollout"',
  ],
  drift: [
    "dimsync drift",
    "dimsync drift --base origin/main -o html=drift.html",
    "dimsync drift --notify env:SLACK_URL --notify-format slack",
    "dimsync drift --resolve accept",
  ],
  list: ["dimsync list", "dimsync list -o json"],
  render: ["dimsync render", "dimsync render SchemaConfig/shops --expand"],
  explain: ["dimsync explain Schemas/orders public.customers.email", "dimsync explain Schemas/orders 'public.customers.\"contact.email\"'"],
  show: ["dimsync show plan.json", "dimsync show result.json -o html=result.html"],
  get: ["dimsync get integrations", "dimsync get schemas Integration/orders", "dimsync get user dana@example.com -o json"],
  audit: ["dimsync audit --since 24h", "dimsync audit --since 2026-03-01 --actor dana@example.com"],
  import: ["dimsync import", "dimsync import 'Integration/*' --dry-run"],
  snapshot: ["dimsync snapshot --out account.snapshot.gz", "dimsync plan --snapshot account.snapshot.gz"],
  compare: ["dimsync compare --from staging --to prod", "dimsync compare --from account.snapshot.gz --to prod"],
  catalog: [
    "dimsync catalog accept --all",
    "dimsync catalog accept Schemas/orders",
    "dimsync catalog accept Schemas/orders public.customers.national_id",
  ],
  bind: ["dimsync bind Asset/warehouse=d-12", "dimsync bind --accept Integration/orders"],
  unbind: ["dimsync unbind Asset/warehouse"],
  resolve: [
    "dimsync resolve Integration/orders --created 8f1c",
    "dimsync resolve Integration/orders --not-created",
    "dimsync resolve --run 6f1e5b2c --not-created",
  ],
  init: ["dimsync init", "DIMSYNC_BASE_URL=https://api.example.com DIMSYNC_API_KEY=... dimsync init sync --from-live"],
  fmt: ["dimsync fmt", "dimsync fmt --check manifests"],
  serve: ["dimsync serve", "dimsync serve --port 8080 --data account.json --faults 'POST /v1/assets=reset-after'"],
  schema: ["dimsync schema SchemaConfig", "dimsync schema --from-live --integration 'shop-*'"],
  completion: ["source <(dimsync completion bash)", "dimsync completion fish | source"],
  controller: [
    "dimsync controller run --watch",
    "dimsync controller status",
    "dimsync controller check prod --wait",
    'dimsync controller suspend prod --until 2027-01-31T18:00:00Z --reason "warehouse migration"',
    'dimsync controller silence --label team=data --until 2h --reason "migration tonight"',
    "dimsync controller notify --test",
  ],
  ci: ["dimsync ci plan", "dimsync ci apply", "dimsync ci drift --no-issue"],
};
