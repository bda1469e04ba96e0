/** Values by key, up to a total size: the least recently used ones are removed first. */
export interface RecentlyUsed<T> {
  readonly get: (key: string) => T | undefined;
  /** Keeps the value, unless it alone exceeds the total size. */
  readonly set: (key: string, value: T, size: number) => void;
}

export function recentlyUsed<T>(maxSize: number): RecentlyUsed<T> {
  // A Map iterates in the order of insertion, so the first entry is the one to remove.
  const entries = new Map<string, { readonly value: T; readonly size: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    set(key, value, size) {
      remove(key);
      if (size > maxSize) return;
      entries.set(key, { value, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= maxSize) return;
        remove(oldest);
      }
    },
  };
}
