export declare const layers: readonly (readonly string[])[];
export declare function refusal(file: string, imported: string): string | undefined;
export declare function importsIn(
  folder: string,
): readonly { readonly file: string; readonly specifier: string; readonly imported?: string }[];
export declare function refusals(folder: string): readonly string[];
export function promiseRefusals(root: string): readonly string[];
export function unusedExports(root: string): readonly string[];
export function sharedTypeNames(folder: string): readonly string[];
