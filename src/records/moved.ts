// A store whose records were moved keeps a lease that never ends. Its reason says where they are.

const moved = "the records were moved to ";

/** The reason of the lease that stays in a store whose records were moved. `to`: what dimsync.yaml must name instead. */
export const movedReason = (to: string): string => `${moved}${to}`;

/** Where the records are now, if the reason is that of a store whose records were moved. */
export const movedTo = (reason: string | undefined): string | undefined =>
  reason?.startsWith(moved) === true ? reason.slice(moved.length) : undefined;
