import { html } from "../../../../core/render/html/html.ts";

/**
 * Copies commands, and reads the page again every 15 s while it is visible, and replaces the parts marked `data-live`.
 * Open details, focus and scroll position stay; a selection of text stops it until it is gone. If
 * the controller cannot be reached, the page says so: an old state must not look like the current one.
 */
export const refreshScript = html`(() => {
  document.documentElement.classList.add("js");
  document.addEventListener("click", async ({ target }) => {
    if (!target.matches(".copy")) return;
    const command = target.previousElementSibling;
    const selection = document.getSelection();
    try {
      // Browsers only have a clipboard for pages from https or localhost.
      if (navigator.clipboard) await navigator.clipboard.writeText(command.textContent);
      else {
        selection.selectAllChildren(command);
        if (!document.execCommand("copy")) throw new Error("refused");
        selection.removeAllRanges();
      }
      target.textContent = "Copied";
    } catch {
      selection.selectAllChildren(command);
      target.textContent = "Selected";
    }
    setTimeout(() => { target.textContent = "Copy"; }, 2000);
  });
  const every = 15000;
  const lost = document.getElementById("lost");
  const footer = document.getElementById("refresh");
  let etag = "", last = new Date(), busy = false;
  const keyOf = (node) => node && (node.id || node.getAttribute("href"));
  const clock = (date) => date.toISOString().slice(11, 19) + " UTC";
  const replace = (old, fresh) => {
    if (old.outerHTML === fresh.outerHTML) return;
    const closed = new Map([...old.querySelectorAll("details[id]")].map((node) => [node.id, node.open]));
    for (const node of fresh.querySelectorAll("details[id]")) if (closed.has(node.id)) node.open = closed.get(node.id);
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    const parent = focused && focused.tagName === "SUMMARY" ? focused.parentElement.id : "";
    const key = keyOf(focused);
    old.replaceWith(fresh);
    if (!focused) return;
    const again = parent
      ? document.getElementById(parent)?.querySelector("summary")
      : [...fresh.querySelectorAll("a[href],[id]")].find((node) => keyOf(node) === key);
    again?.focus({ preventScroll: true });
  };
  const refresh = async () => {
    const selection = document.getSelection();
    if (document.hidden || busy || (selection && selection.type === "Range")) return;
    busy = true;
    try {
      const response = await fetch(location.href, { cache: "no-store", headers: etag ? { "if-none-match": etag } : {} });
      if (response.status !== 304) {
        if (response.status === 401) throw new Error("Reload the page and sign in again.");
        if (!response.ok) throw new Error("It responded with status " + response.status + ".");
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const top = scrollY;
        for (const old of document.querySelectorAll("[data-live]")) {
          const fresh = page.getElementById(old.id);
          if (fresh) replace(old, document.adoptNode(fresh));
        }
        document.title = page.title;
        scrollTo({ top, behavior: "instant" });
        etag = response.headers.get("etag") || "";
      }
      last = new Date();
      lost.hidden = true;
      footer.textContent = ", refreshed at " + clock(last);
    } catch (error) {
      lost.textContent = "This page shows the state of " + clock(last) + ". The controller could not be read since. " + error.message;
      lost.hidden = false;
    } finally {
      busy = false;
    }
  };
  footer.textContent = ", refreshes every " + every / 1000 + " s";
  setInterval(refresh, every);
  document.addEventListener("visibilitychange", refresh);
})();`;
