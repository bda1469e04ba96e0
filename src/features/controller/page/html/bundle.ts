import { blocks, code, folded, html, source as lines, list } from "../../../../core/render/html/html.ts";
import { counted } from "../../../../core/text/counts.ts";
import { shortDigest } from "../../projects/bundle.ts";
import { bundleNamed, type PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { accountsCrumb, facts, shell, time } from "./shell.ts";
import { accountHref, commitHtml, link } from "./words.ts";

/** `/bundles/DIGEST`: the project that accounts are compared with. Secrets are references in it. */
export async function bundlePage(reads: PageReads, { now, login }: PageRequest, digest: string): Promise<HtmlPage> {
  const bundle = await bundleNamed(reads, digest);
  const { source, toolVersion, pushedBy, pushedAt, commit, bytes, accounts, files } = bundle;
  return shell({
    title: `Bundle ${shortDigest(bundle.digest)}`,
    about: html`<p class="quiet small">${code(bundle.digest)}</p>${facts([
      ["Pushed", [time(pushedAt), pushedBy !== undefined && ` by ${pushedBy}`]],
      ["Commit", commit === undefined ? "not from a git repository" : commitHtml(bundle)],
      ["Source", source],
      ["Made with", `dimsync ${toolVersion}`],
      ["Size", `${counted(files.length, "file")}, ${counted(bytes, "byte")} compressed`],
    ])}`,
    crumbs: accountsCrumb,
    now,
    login,
    isLive: false,
    sections: [
      {
        id: "accounts",
        title: "Accounts compared with it",
        count: accounts.length,
        html:
          accounts.length === 0
            ? html`<p class="quiet">None: a newer bundle replaced it.</p>`
            : list(
                accounts.map((name) => link(accountHref(name), name)),
                "columns",
              ),
      },
      {
        id: "files",
        title: "Files",
        count: files.length,
        html: blocks(files.map(({ path, text }) => folded(code(path), lines(text.split(/\r?\n/u))))),
      },
    ],
  });
}
