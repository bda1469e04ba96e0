import { describe, expect, test } from "vitest";
import { columnUse, sqlTokens } from "../../../src/core/impact/sql-columns.ts";

/** How a query uses `email` of the relation `customers`, as "mentions: email, contact". */
function used(sql: string): string {
  const { use, names } = columnUse(sqlTokens(sql), new Map([["customers", new Set(["email"])]]));
  return `${use ?? "nothing"}: ${[...names].join(", ")}`;
}

describe("a query uses a column of a relation", () => {
  test.each<[string, string, string]>([
    ["that it selects", "select id, email from customers", "mentions: email"],
    ["by another name", "select id, Email as contact from raw.shop.customers", "mentions: contact"],
    ["in a function", "select lower(trim(email)) as contact, id from customers", "mentions: contact"],
    ["by a quoted name", 'select "EMAIL" from "raw"."shop"."customers"', "mentions: email"],
    ["by a backquoted name", "select `email` from `raw.shop.customers`", "mentions: email"],
    ["only in a condition", "select id from customers where email is not null", "mentions: "],
    ["only in a join", "select o.id from orders o join customers c on o.email = c.email", "mentions: "],
    ["by select *", "select * from customers", "mayRead: email"],
    ["by c.*", "select c.*, 1 as one from customers as c", "mayRead: email"],
    ["not by select * except", "select * except (email) from customers", "nothing: "],
    ["not in count(*)", "select count(*) as rows from customers", "nothing: "],
    ["not in a multiplication", "select price * amount as total from customers", "nothing: "],
    ["not in a string", "select 'email' as kind from customers", "nothing: "],
    ["not in a comment", "select id -- email\n/* email */ from customers", "nothing: "],
    ["not as a part of a word", "select email_count from customers", "nothing: "],
    ["not of another relation in a join", "select o.email from orders o join customers c on o.id = c.id", "nothing: "],
    ["of the relation with this alias", "select c.email as x from orders o join customers as c on o.id = c.id", "mentions: x"],
    ["of the relation with this name", "select customers.email from orders, customers", "mentions: email"],
    ["of either, without an alias", "select email from orders o join customers c on o.id = c.id", "mentions: email"],
    ["in all columns of one relation", "select o.id, c.* from orders o join customers c using (id)", "mayRead: email"],
    ["not in all columns of another one", "select o.* from orders o join customers c using (id)", "nothing: "],
    [
      "of a subquery with an alias",
      "select o.id, x.mail from orders o join (select email as mail from customers) as x on true",
      "mentions: mail",
    ],
    [
      "of the outer query, in a subquery",
      "select c.id from customers c where exists (select 1 from visits v where v.id in (select id from mails m where m.mail = c.email))",
      "mentions: ",
    ],
    [
      "of the outer query, in a subquery before its relations",
      "select (select max(v.id) from visits v where v.mail = c.email) as last from customers c",
      "mentions: ",
    ],
    [
      "not of a relation of a subquery with the alias of an outer one",
      "select c.id from customers c where exists (select 1 from visits c where c.email = 'a')",
      "nothing: ",
    ],
    ["of a table function, whichever has the word", "select f.email from customers, flatten(tags) f", "mentions: email"],
    ["in a condition after a relation without an alias", "select id from customers where email is null", "mentions: "],
    [
      "not if a CTE of the usual layout leaves it out",
      "with source as (select * from {{ source('shop', 'customers') }}), renamed as (select id, name from source) select * from renamed",
      "nothing: ",
    ],
    [
      "if a CTE of the usual layout renames it",
      "with source as (select * from {{ source('shop', 'customers') }}), renamed as (select id, email as contact from source) select * from renamed",
      "mentions: contact",
    ],
    ["in a subquery", "select contact from (select email as contact from customers) as c", "mentions: contact"],
    ["in a scalar subquery", "select id, (select max(email) from customers) as last_one from orders", "mentions: last_one"],
    [
      "in the second part of a union, under the name of the first",
      "select id from orders union all select email as x from customers",
      "mentions: id",
    ],
    ["in an expression of Jinja", "select {{ hash('email') }} as h from {{ ref('customers') }}", "mentions: h"],
    ["by dbt_utils.star", "select {{ dbt_utils.star(from=ref('x')) }} from {{ ref('customers') }}", "mayRead: email"],
    ["if nothing but words is understood", "{{ my_macro(table='customers', columns=['id', 'email']) }}", "mentions: email"],
    ["not in an empty query", "", "nothing: "],
    ["not in one that is not complete", "select ((( from 'customers", "nothing: "],
  ])("%s", (_, sql, expected) => expect(used(sql)).toBe(expected));
});

test("200,000 columns in a query do not overflow the stack", () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `q.a${index}`).join(",");
  expect(used(`select x from (select ${names} from customers) z`)).toBe("nothing: ");
});

test.each(["(select ", "/*", "'", "{{", '"', "select a,", ")", "with a as (select * from a"])(
  "20,000 times %j is read in linear time",
  (text) => expect(() => used(text.repeat(20_000))).not.toThrow(),
);
