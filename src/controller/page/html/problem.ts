import { html, note } from "../../../render/html/html.ts";
import type { HtmlPage, Problem } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { accountsCrumb, shell } from "./shell.ts";

/** A page that says why there is no result, and what to do. */
export const problemPage = ({ status, title, detail }: Problem, { now, login }: PageRequest): HtmlPage =>
  shell({
    ...{ title, crumbs: accountsCrumb, now, login, isLive: false },
    sections: [{ id: "problem", title: "", html: html`${note("bad", html`<p>${detail}</p>`)}\n<p class="quiet">Status ${status}</p>` }],
  });
