/** How vi.waitFor waits for other processes, in milliseconds. The timeout only ends a test that hangs. */
export const waiting = { timeout: 300_000, interval: 100 };
