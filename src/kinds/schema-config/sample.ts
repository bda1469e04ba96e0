import { comparePaths, type NodePath, nodeText } from "./node.ts";

/** How many examples a message names; the rest it counts. */
const shown = 5;

/** Any number of nodes: how many, and the first few in the order of names. A value that is added to while one tree is walked. */
export interface Sample {
  count: number;
  readonly first: NodePath[];
}

export const emptySample = (): Sample => ({ count: 0, first: [] });

export function addTo(sample: Sample, path: NodePath): void {
  sample.count++;
  const at = sample.first.findIndex((other) => comparePaths(path, other) < 0);
  if (at === -1 && sample.first.length >= shown) return;
  sample.first.splice(at === -1 ? sample.first.length : at, 0, path);
  if (sample.first.length > shown) sample.first.pop();
}

/** "public.users.id, public.users.key and 12 more" */
export function sampleText({ count, first }: Sample): string {
  const names = first.map(nodeText).join(", ");
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}
