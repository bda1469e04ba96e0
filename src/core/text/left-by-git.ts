/** What git wrote into a file instead of its contents, as a sentence; `offset` is where. */
export interface LeftByGit {
  readonly offset: number;
  readonly message: string;
}

/** Conflict markers in a text that cannot be read. */
export function conflictMarkers(text: string): LeftByGit | undefined {
  const found = /^(?:<{7} |={7}\r?$|>{7} )/mu.exec(text);
  if (found === null || !/^={7}\r?$/mu.test(text)) return undefined;
  return { offset: found.index, message: "The file has conflict markers of git here. Resolve the conflict." };
}

/** The end of a sentence that begins with the file's name, if the text is the pointer of a file in Git LFS. */
export const lfsPointer = (text: string): string | undefined =>
  text.startsWith("version https://git-lfs.github.com/spec/")
    ? "is a pointer of Git LFS, not the file itself. Run git lfs pull; in GitHub Actions, set lfs: true for actions/checkout"
    : undefined;
