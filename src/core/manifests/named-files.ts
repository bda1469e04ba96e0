import { existsSync } from "node:fs";
import type { ColumnLabels } from "../base/model/columns.ts";
import { defined } from "../base/model/json/json.ts";
import type { Manifest } from "../base/model/manifest.ts";
import type { Problem } from "../base/model/problem.ts";
import type { Catalog } from "../columns/catalog/index.ts";
import type { LoadedLabels } from "../columns/labels/index.ts";
import { isClassification, labelReferences } from "../kinds/index.ts";
import { outsideMessage } from "./boundary.ts";
import type { LoadedConfig } from "./config/load.ts";
import type { LoadOptions } from "./config/options.ts";
import { readSource, type Source, shownPath } from "./source.ts";

// The files that manifests and the config name: files with labels, dbt manifests and the catalog. The code for them is loaded only if a project
// has some.

/** What reading the files of a project needs. */
export interface FileReading {
  readonly config: LoadedConfig;
  readonly options: LoadOptions;
  /** The texts that were read, by file; new ones are added. */
  readonly sources: Map<string, Source>;
}

/** What the files say, as members of the project. */
export interface NamedFiles {
  /** The labels of columns; absent if there is no Classification. */
  readonly columnLabels?: ColumnLabels;
  /** The columns that someone has reviewed. Absent if the target has no catalog, or if its file has errors. */
  readonly catalog?: ProjectCatalog;
}

export interface ProjectCatalog {
  /** As shown. */
  readonly file: string;
  /** Empty if the file does not exist. */
  readonly text: string;
  readonly columns: Catalog;
}

/** Reads them, as far as the manifests need them. `digested`: for the digest of the manifests. `files`: that plans depend on. `dbtFiles`: absolute paths. */
export async function loadNamedFiles(manifests: readonly Manifest[], reading: FileReading) {
  const { settings } = reading.config;
  const labels = await labelsOf(manifests, reading);
  const { catalog, problems } = await loadCatalog(settings?.catalogFile, reading);
  const loaded: NamedFiles = defined({ columnLabels: labels.labels, catalog });
  return {
    loaded,
    problems: [...problems, ...labels.problems],
    digested: labels.digested,
    files: labels.files,
    dbtFiles: labels.dbtFiles,
  };
}

const noLabels: LoadedLabels = { dbtFiles: [], problems: [], digested: [], files: [] };

/** The labels of columns. Projects without labels load nothing for them. */
async function labelsOf(manifests: readonly Manifest[], { config, options, sources }: FileReading): Promise<LoadedLabels> {
  if (!manifests.some(isClassification) && labelReferences(manifests).length === 0) return noLabels;
  const { loadLabels } = await import("../columns/labels/index.ts");
  return loadLabels(manifests, {
    folders: [config.settings?.folder ?? config.folder, ...(options.labelFolder === undefined ? [] : [options.labelFolder])],
    shown: (path) => shownPath(options.cwd, path),
    refusalOf(path) {
      const target = config.boundary.leadsOutside(path);
      return target === undefined ? undefined : outsideMessage(shownPath(options.cwd, path), target, config.boundary.top);
    },
    onText: (source) => sources.set(source.file, source),
  });
}

/** Reads the catalog file, if the config names one. Its code is only loaded then. */
async function loadCatalog(
  catalogFile: string | undefined,
  { options, sources }: FileReading,
): Promise<{ readonly catalog?: ProjectCatalog; readonly problems: readonly Problem[] }> {
  if (catalogFile === undefined) return { problems: [] };
  const file = shownPath(options.cwd, catalogFile);
  if (!existsSync(catalogFile)) return { catalog: { file, text: "", columns: [] }, problems: [] };
  const { source, problems } = readSource(options.cwd, catalogFile);
  if (source === undefined) return { problems };
  sources.set(source.file, source);
  const { readCatalog } = await import("../columns/catalog/index.ts");
  const read = readCatalog(source.text, { file });
  const catalog = read.catalog === undefined ? {} : { catalog: { file, text: source.text, columns: read.catalog } };
  return { ...catalog, problems: [...problems, ...read.problems] };
}
