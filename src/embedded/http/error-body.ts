import type { EmbeddedOptions } from "../options.ts";
import type { Refusal } from "./call.ts";

/** Body of an error response. The interface does not define it (docs/service-interface.md#errors), so the option `errorBody` varies it. */
export function errorBody(
  refusal: Refusal,
  requestText: string,
  style: EmbeddedOptions["errorBody"],
): { readonly text: string; readonly type: string } {
  const { code, message } = refusal;
  if (style === "empty") return { text: "", type: "application/json" };
  if (style === "plain") return { text: message, type: "text/plain" };
  const shown = style === "echo" && requestText !== "" ? `${message} Request body: ${requestText}` : message;
  return { text: JSON.stringify({ code, message: shown }), type: "application/json" };
}
