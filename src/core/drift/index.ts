export { attribute, runOf, withOtherProjects, withoutAttribution, withPartialAttribution } from "./attribution.ts";
export { type AuditWindow, endOfNow, readAudit, unreadText } from "./audit.ts";
export { type Difference, differencesOf, isSameNode } from "./differences.ts";
export { eventsAbout } from "./event-matching.ts";
export { callWebhook, jsonHeaders, type Notification, notification, notificationBody } from "./notify.ts";
export { driftSummary } from "./summary.ts";
