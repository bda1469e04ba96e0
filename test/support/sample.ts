/**
 * DIMSYNC_TESTS=all runs every case of the large matrices, and properties with many random inputs.
 * Otherwise each run takes a sample of its own, so that `npm test` stays under five minutes.
 */
const isAll = process.env["DIMSYNC_TESTS"] === "all";

/** The number of random inputs of a property. */
export const runs = (sample: number, all: number): number => (isAll ? all : sample);
