import { expect, test } from "vitest";
import { bodyBudget } from "../../../../src/core/service/connection/body.ts";

test("above the budget all bodies but one wait, and go on one after the other", () => {
  const budget = bodyBudget(100);
  const log: string[] = [];
  const body = (name: string) => ({ bytes: 0, pause: () => log.push(`${name} waits`), resume: () => log.push(`${name} goes on`) });
  const [a, b, c] = [body("a"), body("b"), body("c")];
  budget.add(a, 60);
  budget.add(b, 30);
  expect(log).toEqual([]);
  budget.add(c, 20);
  budget.add(b, 20);
  // The only one that goes on may take more than the budget: it has a bound of its own.
  budget.add(a, 500);
  expect(log.splice(0)).toEqual(["c waits", "b waits"]);
  budget.end(a);
  expect(log.splice(0)).toEqual(["c goes on", "b goes on"]);
  budget.end(b);
  budget.end(c);
  budget.end(c);
  budget.add(a, 100);
  budget.add(b, 0);
  expect(log).toEqual([]);
});

test("a body that waits and is given up makes room for the next", () => {
  const budget = bodyBudget(10);
  const log: string[] = [];
  const body = (name: string) => ({ bytes: 0, pause: () => log.push(`${name} waits`), resume: () => log.push(`${name} goes on`) });
  const [a, b, c] = [body("a"), body("b"), body("c")];
  budget.add(a, 8);
  budget.add(b, 8);
  budget.add(c, 1);
  budget.end(b);
  expect(log).toEqual(["b waits", "c waits", "c goes on"]);
});
