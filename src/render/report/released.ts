import type { Released } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";

/** "Integration/forum, 917 columns" */
export const releasedText = ({ address, columns }: Released): string =>
  `${visible(address)}${columns === 0 ? "" : `, ${counted(columns, "column")}`}`;

export const releasedNote = "dimsync sends nothing; the account keeps them.";
