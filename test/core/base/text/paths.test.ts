// Paths are printed in the form in which users write them.
import { describe, expect, test } from "vitest";
import { wholePath } from "../../../../src/core/base/text/paths.ts";

describe("a JSON Pointer in the form that users write", () => {
  test.each([
    ["/schemas/public/enabled", "public enabled"],
    ["/schemas/public/tables/users/enabled", "public.users enabled"],
    ["/schemas/public/tables/users/columns/email/hashed", "public.users.email hashed"],
    ["/schemas/public/tables/users/columns/email", "public.users.email"],
    ["/schemas/public/tables", "public tables"],
    ["/schemas/tables/tables/columns/columns/columns/hashed", "tables.columns.columns hashed"],
    ["/schemas/a~1b/tables/a.b/columns/100%/hashed", '"a/b"."a.b"."100%" hashed'],
    ["/schemas/__proto__/tables/constructor/columns/ x /enabled", '__proto__.constructor." x " enabled'],
    ["/schemas/ü/tables//columns/a~0b/hashed", 'ü.""."a~b" hashed'],
    ["/sourceConfig/connection/port", "sourceConfig.connection.port"],
    ["/paused", "paused"],
    ["", ""],
  ])("%s -> %s", (pointer, text) => {
    expect(wholePath(pointer)).toBe(text);
  });
});
