import { afterEach, beforeEach, vi } from "vitest";

/**
 * The tests of this file find no program in PATH. A run asks git whether its folder is in a
 * repository, which costs two processes; the temporary folders are in none.
 */
export function withoutPrograms(): void {
  beforeEach(() => void vi.stubEnv("PATH", ""));
  afterEach(() => void vi.unstubAllEnvs());
}
