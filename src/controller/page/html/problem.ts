import { escaped } from "../../../render/html/escape.ts";
import type { HtmlPage, Problem } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { shell } from "./shell.ts";

/** A page that says why there is no result, and what to do. */
export const problemPage = ({ status, title, detail }: Problem, { now, login }: PageRequest): HtmlPage =>
  shell({
    title,
    crumbs: [["Accounts", "/"]],
    now,
    ...(login === undefined ? {} : { login }),
    isLive: false,
    sections: [
      { id: "problem", title: "", html: `<div class="note bad"><p>${escaped(detail)}</p></div>\n<p class="quiet">Status ${status}</p>` },
    ],
  });
