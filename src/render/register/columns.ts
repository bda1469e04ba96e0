import { type RegisterRow, sinceText } from "../../model/register.ts";

/** The columns of the CSV file, in its order. */
export const registerColumns: readonly (readonly [name: string, value: (row: RegisterRow) => string])[] = [
  ["integration", ({ integration }) => integration],
  ["integration_id", ({ integrationId }) => integrationId],
  ["schema", ({ schema }) => schema],
  ["table", ({ table }) => table],
  ["column", ({ column }) => column],
  ["destination_schema", ({ destinationSchema }) => destinationSchema],
  ["destination_table", ({ destinationTable }) => destinationTable],
  ["destination_column", ({ destinationColumn }) => destinationColumn],
  ["label", ({ label }) => label],
  ["label_source", ({ labelSource }) => labelSource],
  ["replicated", ({ replicated }) => String(replicated)],
  ["hashed", ({ hashed }) => String(hashed)],
  ["rule", ({ rule }) => rule],
  ["reason", ({ reason }) => reason],
  ["exemption", ({ exemption }) => exemption],
  ["approved_by", ({ approvedBy }) => approvedBy],
  ["expires", ({ expires }) => expires],
  ["since", sinceText],
];
