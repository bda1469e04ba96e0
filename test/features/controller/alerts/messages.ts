import { readFileSync } from "node:fs";
import type { AlertEvent } from "../../../../src/core/model/settings/notifications.ts";
import type { AlertAccount, AlertMessage } from "../../../../src/features/controller/alerts/message.ts";

/** All of the schema. */
export const alertEvents: readonly AlertEvent[] = JSON.parse(readFileSync("schema/config.schema.json", "utf8")).definitions.receiver
  .properties.on.items.enum;

const path = "/schemas/public/tables/users/columns/email/hashed";

export const alertAccount = (members: Partial<AlertAccount> = {}): AlertAccount => ({
  ...{ id: "1f0e", account: "prod", labels: { team: "data" }, at: "2027-01-31T03:05:00.000Z", since: "2027-01-31T03:00:00.000Z" },
  ...{
    actor: "dana@example.com",
    commit: "0123456789abcdef",
    run: "r1",
    link: "https://status.example.com/accounts/prod",
    findingsTotal: 1,
  },
  counts: { exposedColumns: 2, differences: 2, manual: 0, policyViolations: 0 },
  findings: [
    {
      address: "Schemas/orders",
      path,
      risk: "exposed",
      cause: "shops, rule pii",
      actor: "dana@example.com",
      since: "2027-01-31T03:00:00.000Z",
    },
  ],
  ...members,
});

export const alertMessage = (members: Partial<AlertMessage> = {}): AlertMessage => ({
  ...{ id: "5c1d", event: "exposed", source: "example/config", at: "2027-01-31T03:05:00.000Z", since: "2027-01-31T03:00:00.000Z" },
  ...{ cause: "shops, rule pii", isReminder: false, resolves: [], ended: [], link: "https://status.example.com/accounts/prod" },
  accounts: [alertAccount()],
  ...members,
});
