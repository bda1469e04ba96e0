// The number of pushes and processes does not grow with what does not change.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnv } from "../../../support/git/env.ts";
import { integrations } from "../project.ts";
import { intentOf } from "../suite.ts";
import { machines } from "./git-project.ts";
import { begun, diskStore, ref } from "./git-store.ts";

it("takes one process of git after the fetch to read, and one before the push to write", async () => {
  const { open, remote } = await diskStore({ key: "key" });
  const folder = remote.clone();
  const [bin, log] = [join(folder, "..", "bin"), join(folder, "..", "calls")];
  mkdirSync(bin);
  const call = (words: string): string =>
    `fetch|push|ls-remote|cat-file|fast-import`.split("|").find((name) => words.includes(` ${name} `)) ?? words;
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho " $* " >> "${log}"\nPATH="\${PATH#*:}" exec git "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const env = { ...gitEnv, PATH: `${bin}:${gitEnv["PATH"]}` };
  const callsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    writeFileSync(log, "");
    await work();
    return readFileSync(log, "utf8").trimEnd().split("\n").map(call);
  };
  const records = open({ folder, env });
  const reading = await callsOf(records.read);
  expect(reading.slice(reading.indexOf("fetch"))).toEqual(["fetch", "cat-file"]);
  const run = await begun(records);
  const writing = await callsOf(() => run.intend([intentOf("Asset/a")]));
  expect(writing.slice(0, 2)).toEqual(["fast-import", "push"]);
});

describe("the number of pushes", () => {
  it("is none for plan, drift and an apply without changes, which read the ref at most twice", async () => {
    const { machine, store } = await machines();
    const first = machine(integrations(2));
    const ran = await first.run("apply", "--yes");
    expect(ran.code, ran.stderr + ran.stdout).toBe(0);
    const tip = store.remote.tip(ref);
    const second = machine(integrations(2));
    for (const argv of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const { code, stdout, stderr } = await second.run(...argv);
      expect(code, `${argv.join(" ")}: ${stdout}${stderr}`).toBe(0);
      const { pushes, reads } = second.counts();
      expect(pushes, argv.join(" ")).toBe(0);
      expect(reads, argv.join(" ")).toBeLessThanOrEqual(2);
    }
    expect(store.remote.tip(ref)).toBe(tip);
  });

  for (const [creates, pushes] of [
    [1, 2],
    [16, 2],
    [100, 8],
  ] as const)
    it(`is ${pushes} for ${creates} creates`, async () => {
      const { machine, creates: sent, store } = await machines();
      const one = machine(integrations(creates));
      const { code, stdout, stderr } = await one.run("apply", "--yes");
      expect(code, stdout + stderr).toBe(0);
      expect(sent()).toHaveLength(creates);
      expect(one.counts().pushes).toBe(pushes);
      expect([...(await store.open().read()).bindings.keys()]).toHaveLength(creates);
    });
});
