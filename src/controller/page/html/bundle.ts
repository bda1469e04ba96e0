import { blocks, code, escaped, folded } from "../../../render/html/escape.ts";
import { counted } from "../../../text/counts.ts";
import { bundleNamed } from "../named.ts";
import type { PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { shell, time } from "./shell.ts";
import { accountHref, commitHtml, link, shortDigest } from "./words.ts";

/** `/bundles/DIGEST`: the project that accounts are compared with. Secrets are references in it. */
export async function bundlePage(reads: PageReads, { now, login }: PageRequest, digest: string): Promise<HtmlPage> {
  const bundle = await bundleNamed(reads, digest);
  const { source, toolVersion, pushedBy, pushedAt, commit, bytes, accounts, files } = bundle;
  const facts: readonly (readonly [string, string])[] = [
    ["Pushed", `${time(pushedAt)}${pushedBy === undefined ? "" : ` by ${escaped(pushedBy)}`}`],
    ["Commit", commit === undefined ? "not from a git repository" : commitHtml(bundle)],
    ["Source", escaped(source)],
    ["Made with", `dimsync ${escaped(toolVersion)}`],
    ["Size", `${counted(files.length, "file")}, ${counted(bytes, "byte")} compressed`],
  ];
  return shell({
    title: `Bundle ${shortDigest(bundle.digest)}`,
    about: `<p class="quiet small">${code(bundle.digest)}</p><dl class="facts">${facts.map(([term, text]) => `<div><dt>${term}</dt><dd>${text}</dd></div>`).join("")}</dl>`,
    crumbs: [["Accounts", "/"]],
    now,
    ...(login === undefined ? {} : { login }),
    isLive: false,
    sections: [
      {
        id: "accounts",
        title: "Accounts compared with it",
        count: accounts.length,
        html:
          accounts.length === 0
            ? '<p class="quiet">None: a newer bundle replaced it.</p>'
            : `<ul class="columns">${accounts.map((name) => `<li>${link(accountHref(name), escaped(name))}</li>`).join("")}</ul>`,
      },
      {
        id: "files",
        title: "Files",
        count: files.length,
        html: blocks(...files.map(({ path, text }) => folded(code(path), `<pre>${text.split(/\r?\n/u).map(escaped).join("\n")}</pre>`))),
      },
    ],
  });
}
