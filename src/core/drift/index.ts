export { attribute, runOf, withOtherProjects, withoutAttribution, withPartialAttribution } from "./attribution.ts";
export { type AuditWindow, endOfNow, eventsAbout, readAudit, unreadText } from "./audit.ts";
export { differencesOf, isSameNode, type NamedDifference } from "./differences.ts";
export { callWebhook, driftSummary, jsonHeaders, type Notification, notification, notificationBody } from "./notify.ts";
