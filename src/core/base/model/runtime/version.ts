declare const DIMSYNC_VERSION: string | undefined;

/** The version in package.json, which the build inserts; 0.0.0 in tests of the sources. */
export const version: string = typeof DIMSYNC_VERSION === "string" ? DIMSYNC_VERSION : "0.0.0";
