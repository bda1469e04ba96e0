import type { NeverReviewed } from "../model/columns.ts";
import { visible } from "./control-characters.ts";
import { counted } from "./counts.ts";

/** "Integration Payroll (int-31): 912 columns, never reviewed" */
export const neverReviewedText = ({ name, id, columns }: NeverReviewed): string =>
  `Integration ${visible(name)} (${visible(id)}): ${counted(columns, "column")}, never reviewed`;
