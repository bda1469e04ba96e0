import type { Deferred } from "../model/plan.ts";

/** What something deferred waits for; `name` draws an address in the way of the format. "" where that is not known. */
export function awaited({ waitsFor, liveId }: Pick<Deferred, "waitsFor" | "liveId">, name: (address: string) => string): string {
  const names = waitsFor.map(name).join(", ");
  if (names === "") return "";
  return liveId === undefined ? `waits for ${names}` : `waits for the service to discover the schema of ${names}`;
}
