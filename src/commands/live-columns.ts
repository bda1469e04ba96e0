import { isObject } from "../model/json.ts";

/** A schema map as rows: each schema, its tables, their columns; every row tells where it is. */
export function columnRows(schemas: object): readonly object[] {
  return entriesOf(schemas).flatMap(([schema, { tables, ...ofSchema }]) => [
    { schema, ...ofSchema },
    ...entriesOf(tables).flatMap(([table, { columns, ...ofTable }]) => [
      { schema, table, ...ofTable },
      ...entriesOf(columns).map(([column, ofColumn]) => ({ schema, table, column, ...ofColumn })),
    ]),
  ]);
}

function entriesOf(map: unknown): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  return isObject(map) ? Object.entries(map).flatMap(([name, entry]) => (isObject(entry) ? [[name, entry] as const] : [])) : [];
}
