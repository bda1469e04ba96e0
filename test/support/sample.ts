import { execFileSync } from "node:child_process";

/**
 * DIMSYNC_TESTS=all runs every case of the large matrices, and properties with many random inputs.
 * Otherwise each commit takes another sample, so that a run stays short.
 */
export const isAll = process.env["DIMSYNC_TESTS"] === "all";

/**
 * The seed of all samples: that of the commit, so that two runs of it test the same.
 * DIMSYNC_TESTS_SEED=N takes the samples of another commit.
 */
export const sampleSeed = Number(process.env["DIMSYNC_TESTS_SEED"] ?? seedOfCommit());

/** 0 outside a repository, such as in an archive of the sources. */
function seedOfCommit(): number {
  try {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number.parseInt(commit.slice(0, 7), 16);
  } catch {
    return 0;
  }
}

/** The number of random inputs of a property. */
export const runs = (sample: number, all: number): number => (isAll ? all : sample);

export interface SampleOptions<T> {
  /** The sample of a matrix differs from that of another name. */
  readonly name: string;
  readonly kindOf: (one: T) => string;
  /** The number of cases of a kind, at least 1. Default: 1. */
  readonly most?: (kind: string) => number;
}

/** Random cases of each kind, in their order. All cases with DIMSYNC_TESTS=all. */
export function sampleOf<T>(cases: readonly T[], { name, kindOf, most = () => 1 }: SampleOptions<T>): readonly T[] {
  if (isAll) return cases;
  const random = randomOf([...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), sampleSeed));
  const shuffled = cases.map((one, index) => ({ one, index, kind: kindOf(one), at: random() })).sort((a, b) => a.at - b.at);
  const taken = new Map<string, number>();
  return shuffled
    .filter(({ kind }) => {
      const count = (taken.get(kind) ?? 0) + 1;
      taken.set(kind, count);
      return count <= most(kind);
    })
    .sort((a, b) => a.index - b.index)
    .map(({ one }) => one);
}

/** mulberry32: the same numbers from 0 to 1 for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
