import { type Html, html, joined, quiet } from "../../../../core/render/html/html.ts";
import { counted } from "../../../../core/text/counts.ts";
import { ProblemError } from "../reply.ts";
import { link } from "./words.ts";

/** The part of a list that `?page=` selects, from 1. @throws ProblemError 404 for a page that the list does not have. */
export function pageNumber<T>(query: URLSearchParams, all: readonly T[], perPage: number) {
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const page = pageAsked(query);
  if (page > pages)
    throw new ProblemError({
      status: 404,
      title: "No such page",
      detail: `The list has ${counted(pages, "page")}, and page ${page} is not one of them.`,
    });
  return { items: all.slice((page - 1) * perPage, page * perPage), page, pages };
}

/** 1 without `?page=`. @throws ProblemError 400 if it is not a whole number above 0. */
export function pageAsked(query: URLSearchParams): number {
  const text = query.get("page") ?? "1";
  if (/^[1-9]\d{0,5}$/u.test(text)) return Number(text);
  throw new ProblemError({ status: 400, title: "Invalid page", detail: "page must be a whole number above 0." });
}

/** Links to the neighbouring pages; empty if there is only one. */
export function pager(path: string, query: URLSearchParams, page: number, pages: number): Html {
  if (pages < 2) return html``;
  const to = (number: number, text: string): Html => {
    const next = new URLSearchParams(query);
    next.set("page", String(number));
    return link(`${path}?${next}`, text);
  };
  const parts = [page > 1 && to(page - 1, "Previous page"), quiet(`Page ${page} of ${pages}`), page < pages && to(page + 1, "Next page")];
  return html`<nav aria-label="Pages" class="pager">${joined(parts, " ")}</nav>`;
}
