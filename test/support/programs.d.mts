export type ProgramName =
  | "chromium"
  | "postgresql"
  | "pgbouncer"
  | "sshd"
  | "curl"
  | "bash"
  | "zsh"
  | "fish"
  | "promtool"
  | "script"
  | "systemd-analyze";
export declare const programs: Readonly<
  Record<ProgramName, { readonly title: string; readonly package: string; readonly commands: readonly string[] }>
>;
export declare const without: readonly string[];
export declare function pathOf(name: ProgramName): string | undefined;
export declare function program(name: ProgramName): string;
