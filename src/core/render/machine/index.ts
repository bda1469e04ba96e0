export { type AnnotationOptions, annotations, githubPieces, renderGithub, summaryLimitBytes } from "./github.ts";
export { jsonOfAll, renderJson } from "./json.ts";
export { familyText, type Sample } from "./prometheus.ts";
