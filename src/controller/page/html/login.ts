import { base, html } from "../../../render/html/html.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { shell } from "./shell.ts";

export interface LoginOptions {
  /** Where to go afterwards. */
  readonly next: string;
  /** Why the form is here; "" if someone asked for it. */
  readonly reason: string;
  /**
   * Whether a link of another site led here. Then the browser has not sent the cookie, and it does if the page loads itself again:
   * whoever is signed in does not have to sign in for each link in a chat.
   */
  readonly isFromOtherSite: boolean;
}

/** The form that a person signs in with. */
export const loginPage = ({ now }: Pick<PageRequest, "now">, { next, reason, isFromOtherSite }: LoginOptions): HtmlPage =>
  shell({
    ...{ title: "Sign in", now, isLive: false, reload: isFromOtherSite ? next : undefined },
    sections: [
      {
        id: "login",
        title: "",
        html: html`${reason !== "" && html`<div class="note bad" role="alert"><p>${reason}</p></div>\n`}<form method="post" action="${base}/login">
<label>Token of the controller <input type="password" name="token" autocomplete="current-password" required></label>
<input type="hidden" name="next" value="${next}">
<button>Sign in</button>
</form>
<p class="quiet small">It is the value of DIMSYNC_CONTROLLER_TOKEN. You stay signed in for seven days. Programs send it as <code>Authorization: Bearer TOKEN</code>.</p>`,
      },
    ],
  });
