export { attribute, runOf, withOtherProjects, withoutAttribution, withPartialAttribution } from "./attribution.ts";
export { type AuditWindow, endOfNow, eventsAbout, readAudit, unreadText } from "./audit.ts";
export { differencesOf, isSameNode, type NamedDifference } from "./differences.ts";
export { callWebhook, jsonHeaders, type Notification, notification, notificationBody } from "./notify.ts";
export { driftSummary } from "./summary.ts";
