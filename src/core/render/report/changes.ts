import { changeCount, isOutside } from "../../base/model/changes.ts";
import type { ReadyStep } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import { actionSigns } from "../../base/text/signs.ts";
import { code, type Entry, id, type Line, listLine, muted, name, ref, type Section, type Tone, word } from "../blocks.ts";
import { attributionText } from "./attribution.ts";
import { type ChangeRow, changeRows } from "./change-rows.ts";
import type { Words } from "./words.ts";

const tones: Readonly<Record<string, Tone>> = { "+": "good", "→": "info", "=": "quiet" };

/** The rows as a section. `verbose`: without shortening lists. */
export function changesSection(items: readonly ReadyStep[], words: Words, verbose: boolean): Section {
  const rows = changeRows(items, words);
  const most = verbose ? Number.POSITIVE_INFINITY : undefined;
  return {
    id: "changes",
    title: words.change === "difference" ? "Differences" : "Changes",
    count: items.reduce((sum, item) => sum + (item.verb === "update" ? changeCount(item) : item.verb === "bind" ? 0 : 1), 0),
    part: "changes",
    isPlain: true,
    noun: "row",
    heads: ["Change", "What", "Where", "Why"],
    entries: rows.map((row) => rowEntry(row, words, most)),
    notes: eventLines(items, words).map((text) => [muted(text)]),
  };
}

function rowEntry(row: ChangeRow, { kind, risks }: Words, most: number | undefined): Entry {
  const tone = row.isAlarm ? "bad" : (tones[row.sign] ?? "warn");
  // Not every column changes in every integration.
  const isExample = row.what.length * Math.max(1, row.where.length) !== row.count && row.noun !== "tag";
  const whatMost = most ?? (row.what.length > 3 ? 2 : 3);
  const what: Line = [
    ...listLine(isExample ? row.what.slice(0, whatMost) : row.what, (one) => code(one), { one: row.noun, most: whatMost }),
    ...(isExample ? [muted(`and more (${counted(row.count, row.noun)} in all)`)] : []),
    ...(row.value === "" ? [] : [row.value]),
  ];
  return {
    tone,
    head: [
      [row.isAlarm ? word(kind === "DriftReport" ? row.verb : `${row.verb} (${risks[0]})`, "bad") : row.verb],
      what,
      listLine(row.where.map(visible), (one) => id(one), {
        one: row.noun === "tag" ? "resource" : "integration",
        ...(most === undefined ? {} : { most }),
      }),
      [muted(row.why)],
    ],
  };
}

/** Events about objects, each once: "Orders was changed by dana@example.com, 2026-03-03 07:55 UTC". A plan has those of what it undoes. */
function eventLines(items: readonly ReadyStep[], { kind }: Words): readonly string[] {
  const shown = kind === "DriftReport" ? items : items.filter(({ changes }) => changes.some(isOutside));
  return [...new Set(shown.map((item) => attributionText(item)))].filter((text) => text !== "");
}

/** Each item with its changes and requests, for those who ask. */
export function detailEntries(items: readonly ReadyStep[]): readonly Entry[] {
  const addresses = new Map(items.map((item) => [item.id, item.address]));
  return items.map((item): Entry => {
    const { verb, address, liveName = "", liveId = "", dependsOn, requests } = item;
    const after = [...new Set((dependsOn ?? []).map((one) => addresses.get(one) ?? one))].filter((one) => one !== address);
    const first = after.length === 0 ? "" : `, after ${andMore(after.map(visible), "object")}`;
    return {
      sign: actionSigns[verb],
      tone: tones[actionSigns[verb]] ?? "warn",
      head: [[name(address)], [id(liveName), ref(liveId)]],
      changes: { of: item, title: `Changes of ${address}`, isKey: true },
      requests: requests.map(({ method, path, body }, index) => ({ text: `${method} ${path}${index === 0 ? first : ""}`, body })),
    };
  });
}
