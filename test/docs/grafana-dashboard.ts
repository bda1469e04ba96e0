import { PanelBuilder as BarGauge } from "@grafana/grafana-foundation-sdk/bargauge";
import type { Builder, Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import { StackingConfigBuilder, StackingMode } from "@grafana/grafana-foundation-sdk/common";
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as Stat } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimeSeries } from "@grafana/grafana-foundation-sdk/timeseries";

const datasource = { type: "prometheus", uid: "$datasource" };
const selected = 'account=~"$account"';

const query = (expr: string, legend = "{{account}}"): Builder<Dataquery> =>
  new DataqueryBuilder().datasource(datasource).expr(expr).legendFormat(legend);

/** The values now. */
const instant = (expr: string, legend?: string): Builder<Dataquery> =>
  new DataqueryBuilder()
    .datasource(datasource)
    .expr(expr)
    .instant()
    .format(PromQueryFormat.TimeSeries)
    .legendFormat(legend ?? "{{account}}");

/** Red above zero. */
const badAboveZero = new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
  { value: null, color: "green" },
  { value: 1, color: "red" },
]);

function stat(title: string, description: string, expr: string): Builder<Panel> {
  return new Stat()
    .title(title)
    .description(description)
    .datasource(datasource)
    .withTarget(instant(expr, title))
    .thresholds(badAboveZero)
    .height(4)
    .span(4);
}

/** The accounts with the highest values. */
function worst(title: string, description: string, expr: string): Builder<Panel> {
  return new BarGauge()
    .title(title)
    .description(description)
    .datasource(datasource)
    .withTarget(instant(`topk(20, ${expr} > 0)`))
    .thresholds(badAboveZero)
    .min(0)
    .noValue("none")
    .height(8)
    .span(12);
}

interface Series {
  readonly unit?: string;
  readonly stacked?: boolean;
  readonly description?: string;
}

function series(
  title: string,
  targets: readonly Builder<Dataquery>[],
  { unit = "short", stacked = false, description }: Series = {},
): Builder<Panel> {
  const panel = new TimeSeries().title(title).datasource(datasource).unit(unit).min(0).height(8).span(12);
  if (description !== undefined) panel.description(description);
  if (stacked) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal)).fillOpacity(30);
  for (const target of targets) panel.withTarget(target);
  return panel;
}

const metric = (name: string, filter = ""): string => `dimsync_controller_${name}${filter === "" ? "" : `{${filter}}`}`;

/** The dashboard that `examples/controller/grafana-dashboard.json` contains. The builders know Grafana's schema. */
export const dashboard = (): Dashboard =>
  new DashboardBuilder("dimsync controller")
    .uid("dimsync-controller")
    .description("Exposed columns, differences and check health of the accounts that the dimsync controller checks.")
    .tags(["dimsync"])
    .time({ from: "now-24h", to: "now" })
    .refresh("1m")
    .readonly()
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(
      new QueryVariableBuilder("account")
        .label("Account")
        .datasource(datasource)
        .query(`label_values(${metric("account_info")}, account)`)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue(".*"),
    )
    .withRow(new RowBuilder("Now"))
    .withPanel(
      stat("Exposed columns", "Columns that are less protected than the manifests declare.", `sum(${metric("exposed_columns", selected)})`),
    )
    .withPanel(stat("Policy violations", "Of policies of severity error.", `sum(${metric("policy_violations", selected)})`))
    .withPanel(stat("Accounts not checked", "Not checked within three intervals.", `sum(${metric("stale", selected)})`))
    .withPanel(stat("Failing accounts", "The last run failed.", `sum(${metric("failing", selected)})`))
    .withPanel(stat("Suspended accounts", "Checks are suspended.", `sum(${metric("suspended", selected)})`))
    .withPanel(stat("Failing receivers", "Receivers that did not accept the last notification.", `sum(${metric("receiver_failing")})`))
    .withPanel(worst("Exposed columns by account", "The 20 accounts with the most.", metric("exposed_columns", selected)))
    .withPanel(
      worst(
        "Differences by account",
        "Differences that requests or people could fix. The 20 accounts with the most.",
        `${metric("differences", selected)} + ${metric("manual_steps", selected)}`,
      ),
    )
    .withRow(new RowBuilder("Accounts"))
    .withPanel(series("Accounts by state", [query(metric("accounts"), "{{state}}")], { stacked: true }))
    .withPanel(series("Exposed columns", [query(`${metric("exposed_columns", selected)} > 0`)], { stacked: true }))
    .withPanel(
      series(
        "Age of the last check in intervals",
        [query(`${metric("check_age_seconds", selected)} / ${metric("check_interval_seconds", selected)}`)],
        {
          description: "An account is stale after 3.",
        },
      ),
    )
    .withPanel(
      series("Changes since yesterday", [query(`delta(${metric("differences", selected)}[1d]) != 0`)], {
        description: "How the number of differences changed within a day.",
      }),
    )
    .withRow(new RowBuilder("Controller"))
    .withPanel(
      series("Queue", [
        query(metric("queue_depth"), "due"),
        query(metric("accounts_overdue"), "overdue"),
        query(metric("running"), "running"),
      ]),
    )
    .withPanel(series("Workers", [query(metric("workers"), "workers"), query(`sum(${metric("worker_stuck")})`, "stuck")]))
    .withPanel(
      series("Runs", [query(`rate(${metric("runs_total")}[$__rate_interval])`, "exit {{exit_code}}")], { stacked: true, unit: "ops" }),
    )
    .withPanel(
      series(
        "Duration of runs",
        [0.5, 0.95].map((quantile) =>
          query(`histogram_quantile(${quantile}, rate(${metric("run_duration_seconds_bucket")}[$__rate_interval]))`, `${quantile * 100} %`),
        ),
        { unit: "s" },
      ),
    )
    .withPanel(
      series("Notifications and lost leases", [
        query(`increase(${metric("notifications_total")}[$__rate_interval])`, "{{outcome}}"),
        query(`increase(${metric("lease_losses_total")}[$__rate_interval])`, "lost leases"),
      ]),
    )
    .withPanel(series("Memory of the process", [query(metric("process_resident_memory_bytes"), "{{instance}}")], { unit: "bytes" }))
    .build();
