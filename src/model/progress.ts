/** What long work tells while it runs; the command line shows it, a library user listens. */
export type ProgressEvent =
  | { readonly type: "phase"; readonly phase: "read" | "plan" | "apply" | "wait"; readonly round: number; readonly total?: number }
  | {
      readonly type: "step";
      readonly phase: "read" | "apply" | "wait";
      readonly done: number;
      readonly total: number;
      readonly label: string;
    };

export type OnProgress = (event: ProgressEvent) => void;
