/** Events of long-running work. The command line shows them; users of the library can listen to them. */
export type ProgressEvent =
  | { readonly type: "phase"; readonly phase: "read" | "plan" | "apply" | "wait"; readonly round: number; readonly total?: number }
  | {
      readonly type: "step";
      /** "columns": reading the columns of tables, one by one. */
      readonly phase: "read" | "columns" | "apply" | "wait";
      readonly done: number;
      readonly total: number;
      readonly label: string;
    };

export type OnProgress = (event: ProgressEvent) => void;
