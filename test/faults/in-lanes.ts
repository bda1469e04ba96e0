/**
 * Calls `work` with 1, 2, 3 …, several at a time, until an outcome says that it is the last one.
 * Includes outcomes of calls that began before that.
 */
export async function inLanes<T>(lanes: number, work: (nth: number) => Promise<T>, isLast: (outcome: T) => boolean): Promise<readonly T[]> {
  const outcomes: T[] = [];
  let next = 1;
  let over = false;
  const lane = async (): Promise<void> => {
    while (!over) {
      const outcome = await work(next++);
      outcomes.push(outcome);
      if (isLast(outcome)) over = true;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes;
}
