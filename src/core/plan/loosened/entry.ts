import type { ColumnReview } from "../../base/model/columns.ts";
import type { LoosenedRule } from "../../base/model/findings.ts";
import { defined } from "../../base/model/json/json.ts";
import type { Finding } from "../../base/model/plan.ts";
import type { SourceLocation } from "../../base/model/problem.ts";
import type { Project } from "../../manifests/index.ts";

/** The project at the base: what reviewers have accepted. */
export interface BaseProject extends Pick<Project, "manifests" | "elsewhere" | "columnLabels" | "locate" | "patterns" | "catalog"> {
  /** Absent if the config at the base cannot be used. */
  readonly settings?: Project["settings"];
  /** Which columns someone had reviewed. Absent if the project did not ask for it. */
  readonly review?: ColumnReview | undefined;
  /** The files at the base that could not be read, with the codes of their errors. */
  readonly unread: readonly { readonly file: string; readonly codes: string }[];
  /** Manifests of dbt that git does not have at the base, and whose dbt project the checkout changes. */
  readonly unknownLabels?: readonly string[];
}

/** Both sides of a review. */
export interface Review {
  readonly base: BaseProject;
  readonly head: Project;
  /** YYYY-MM-DD */
  readonly today: string;
}

/** An entry before its line is looked up. */
export interface Draft {
  readonly code: LoosenedRule;
  /** What is weaker, such as Policy/pii-hashed or guard maxCreates. */
  readonly subject: string;
  readonly message: string;
  /** The side that has the place. */
  readonly at: "base" | "head";
  readonly place?: SourceLocation | undefined;
  /** How many columns it concerns now. */
  readonly columns?: number;
}

export function located({ code, subject, message, at, place, columns }: Draft, sides: Pick<Review, "base" | "head">): Finding {
  const { file, line } = place === undefined ? {} : sides[at].locate(place);
  return {
    rule: code,
    severity: code === "unknown" ? "info" : "warning",
    message,
    address: subject,
    ...defined({ count: columns, at: at === "base" ? at : undefined, file, line }),
  };
}

export const until = (day: string | undefined): string => (day === undefined ? "without an end" : `until ${day}`);
