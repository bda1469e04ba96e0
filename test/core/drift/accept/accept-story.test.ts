// Drift is reported with who caused it, and accepted in the manifests of the team.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { extractBase } from "../../../../src/core/base/git/base.ts";
import { eachChange } from "../../../../src/core/base/model/changes.ts";
import { acceptDrift, writeEdits } from "../../../../src/core/drift/accept/accept.ts";
import { apply, drift, loadProject, type Plan, renderers } from "../../../../src/index.ts";
import { repositoryIn } from "../../../support/git/remote.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";
import { startService } from "../../../support/service.ts";
import { byHandSteps, readySteps } from "../../../support/steps.ts";

const manifests = `# Orders, as we want them.
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec:
  match: { name: Orders }
  expect: { paused: false }   # pausing is for emergencies
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec:
  integration: orders
  rules:
    - { id: pii-email, match: { schema: public, table: users, column: "*email*" }, set: { hashed: true }, reason: GDPR register 12 }
  schemas:
    public:
      tables:
        customers: { columns: { email: { hashed: true } } } # asked for by legal
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: pii }
spec:
  name: PII
  description: Contains personal data
`;
const email = "/schemas/public/tables/users/columns/email/hashed";
const customerEmail = "/schemas/public/tables/customers/columns/email/hashed";
const phone = "/schemas/public/tables/customers/columns/phone/hashed";

test("a colleague unhashes a column and pauses an integration while a pull request changes a rule: the report says who did what, and accepting resolves it", async () => {
  const service = await startService({ apiKeys: { "bot-key": "bot@example.com", "dana-key": "dana@example.com" } });
  onTestFinished(() => service.close());
  const folder = writeProject({ "dimsync.yaml": configText(service.url), "manifests/orders.yaml": manifests, ".gitignore": ".dimsync\n" });
  const file = join(folder, "manifests/orders.yaml");
  const env = { ...process.env, [keyVariable]: "bot-key" };
  const load = (cwd = folder) => loadProject({ cwd, env });
  /** Compared with main, with attribution. */
  const report = async (): Promise<Plan> => {
    const base = await extractBase(folder, git("rev-parse", "main"), env);
    try {
      return await drift(await load(), { env, base: { ...(await load(base.folder)), unread: [] } });
    } finally {
      await base.release();
    }
  };

  // A run of dimsync makes the account match main.
  expect((await apply(await load(), { env })).exit.code).toBe(0);
  const git = repositoryIn(folder);
  expect((await report()).exit.code).toBe(0);

  // Dana works in the web console of the service.
  const console = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { "x-api-key": "dana-key", "content-type": "application/json", "user-agent": "Mozilla/5.0" };
    const answer = await fetch(`${service.url}/_console${path}`, { method, headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
  };
  const clear = { columns: { email: { hashed: false } } };
  await console("PATCH", "/integrations/8f1c/schemas", { schemas: { public: { tables: { users: clear, customers: clear } } } });
  await console("POST", "/integrations/8f1c", { paused: true });
  const tagEdit = await fetch(`${service.url}/v1/tags/t-1`, {
    method: "PUT",
    headers: { "x-api-key": "dana-key", "content-type": "application/json", "user-agent": "Mozilla/5.0" },
    body: JSON.stringify({ description: "Personal data, by Dana" }),
  });
  expect(tagEdit.status).toBe(200);

  // Meanwhile a pull request adds a rule and rewords the tag.
  git("switch", "-qc", "more-pii");
  writeFileSync(
    file,
    manifests
      .replace(
        "  schemas:\n",
        '    - { id: pii-phone, match: { schema: public, table: customers, column: "*phone*" }, set: { hashed: true } }\n  schemas:\n',
      )
      .replace("Contains personal data", "Contains personal data of customers"),
  );
  git("commit", "-qam", "phones, too");

  // The report distinguishes the three origins and names the user.
  const seen = await report();
  expect(seen.exit.code).toBe(2);
  const byPath = new Map(
    readySteps(seen)
      .flatMap((item) => [...eachChange(item)])
      .map((change) => [change.path, change]),
  );
  expect([...byPath].map(([path, { origin, attribution }]) => [path, origin, attribution?.actor]).sort()).toEqual([
    ["/description", "conflict", "dana@example.com"],
    [customerEmail, "drift", undefined],
    [phone, "config", undefined],
    [email, "drift", undefined],
  ]);
  expect(byPath.get(email)).toMatchObject({
    before: false,
    after: true,
    cause: { rule: "pii-email", file: expect.stringContaining("orders.yaml") },
  });
  expect(readySteps(seen).find(({ address }) => address === "Schemas/orders")?.attribution).toMatchObject({
    confidence: "likely",
    own: false,
    userAgent: "Mozilla/5.0",
    event: expect.stringContaining("Schema configuration of integration 8f1c"),
  });
  const [step] = byHandSteps(seen);
  expect(byHandSteps(seen)).toHaveLength(1);
  expect(step).toMatchObject({
    address: "Integration/orders",
    path: "/paused",
    expected: false,
    actual: true,
    origin: "drift",
    instruction: expect.stringMatching(/^Resume the integration "Orders"/u),
  });
  expect(step?.attribution).toMatchObject({ actor: "dana@example.com", event: 'Integration 8f1c "Orders" paused', confidence: "exact" });
  for (const format of ["human", "markdown", "html", "json"] as const)
    expect(renderers[format](seen, { color: false, verbose: false })).toMatch(/dana(?:@|&#64;&#8203;)example\.com/u);
  expect(service.requests.filter(({ method, path }) => method !== "GET" && !path.includes("tags/t-1")).length).toBe(1);

  // Accepting edits the manifests for changes in the account only.
  const before = readFileSync(file, "utf8");
  const project = await load();
  const accepted = await acceptDrift(seen, project, folder);
  await writeEdits(accepted.edits);
  expect(readFileSync(file, "utf8")).toBe(
    before
      .replace("paused: false }", "paused: true }")
      .replace(
        "customers: { columns: { email: { hashed: true } } } # asked for by legal\n",
        "customers: { columns: { email: { hashed: false } } } # asked for by legal\n        users: { columns: { email: { hashed: false } } }\n",
      ),
  );
  expect(accepted.accepted).toHaveLength(3);
  expect(accepted.unaccepted.map(({ address, path, why }) => [address, path, why.split(".")[0]])).toEqual([
    ["Schemas/orders", phone, "The manifests changed here, not the account"],
    ["Tag/pii", "/description", "Both the manifests and the account changed here"],
  ]);
  const rest = await report();
  expect(byHandSteps(rest)).toEqual([]);
  expect(
    readySteps(rest)
      .flatMap((item) => [...eachChange(item)])
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["/description", phone]);

  // After the pull request is merged and applied, the accepted values stay and the next report has no drift.
  git("commit", "-qam", "accept Dana's changes");
  expect((await apply(await load(), { env })).exit.code).toBe(0);
  const clean = await report();
  expect(clean.exit).toEqual({ code: 0, reasons: [] });
  expect(service.state().integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"]?.columns["email"]?.hashed).toBe(
    false,
  );
});

test("a dimsync run is recognised, and a key without access to the audit log still gets a report", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const folder = writeProject({ "dimsync.yaml": configText(service.url), "manifests/orders.yaml": manifests });
  const env = { [keyVariable]: service.apiKey };
  const load = () => loadProject({ cwd: folder, env });
  await apply(await load(), { env });
  writeFileSync(join(folder, "manifests/orders.yaml"), manifests.replace('"*email*"', '"*name*"'));
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const own = await drift(await load(), { env, since: anHourAgo });
  const isChanged = ({ path }: { readonly path: string }): boolean => path.endsWith("display_name/hashed");
  expect(readySteps(own).find((item) => [...eachChange(item)].some(isChanged))?.attribution).toMatchObject({
    own: true,
    actor: "bot@example.com",
    userAgent: expect.stringMatching(/^dimsync\/\S+ \(run\//u),
  });

  service.addFault("GET /v1/audit-logs=status:403");
  const blind = await drift(await load(), { env, attribution: false });
  const reported = await drift(await load(), { env });
  expect(readySteps(reported)).toEqual(readySteps(blind));
  expect(reported.exit).toEqual(blind.exit);
  expect(reported.diagnostics).toEqual([expect.objectContaining({ code: "I_NO_ATTRIBUTION", severity: "info" })]);
  expect(reported.calls.read["GET"]).toBe((blind.calls.read["GET"] ?? 0) + 1);
});
