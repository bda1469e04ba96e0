import type { ColumnReview } from "../../base/model/columns.ts";
import type { Loosened } from "../../base/model/plan.ts";
import type { SourceLocation } from "../../base/model/problem.ts";
import type { Project } from "../../manifests/project.ts";

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
export interface Draft extends Omit<Loosened, "file" | "line"> {
  readonly place?: SourceLocation | undefined;
}

export function located({ place, ...entry }: Draft, { base, head }: Pick<Review, "base" | "head">): Loosened {
  if (place === undefined) return entry;
  const { file, line } = (entry.at === "base" ? base : head).locate(place);
  return { ...entry, file, ...(line === undefined ? {} : { line }) };
}

export const until = (day: string | undefined): string => (day === undefined ? "without an end" : `until ${day}`);
