import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
// The oldest version: an API accepts the SDK of a newer one, but not of an older one. It finds the
// SDK through a global symbol, so it need not be the user's own copy.
import { type Context, context, propagation, type Span, type SpanAttributes, SpanKind, SpanStatusCode, trace } from "opentelemetry-api-1.0";
import { DimsyncError } from "../core/model/errors.ts";
import { type TracedWork, tracedChannel } from "../core/model/runtime/traced.ts";
import { version } from "../core/model/runtime/version.ts";
import type { Environment } from "../core/model/settings/env.ts";
import type { CallReport } from "../core/service/request.ts";
import { onRequest } from "./request-log.ts";

/**
 * Makes spans of traced work and of requests, with the SDK that the user has registered, until the returned function is called. The parent of the first
 * span is the trace in TRACEPARENT. Spans have names, counts, addresses and codes: no bodies, no headers, and no messages, which may quote responses.
 */
export function startTelemetry(env: Environment): () => void {
  const tracer = trace.getTracer("dimsync", version);
  const carrier = { traceparent: env["TRACEPARENT"], tracestate: env["TRACESTATE"] };
  const outside = propagation.extract(context.active(), carrier);
  const inside = new AsyncLocalStorage<Context>();
  const spans = new WeakMap<TracedWork, Span>();
  const parent = (): Context => inside.getStore() ?? outside;
  const channel = tracingChannel<Context, TracedWork>(tracedChannel);
  channel.start.bindStore(inside, (work) => {
    const span = tracer.startSpan(work.name, { attributes: work.attributes }, parent());
    spans.set(work, span);
    work.traceId = span.spanContext().traceId;
    return trace.setSpan(parent(), span);
  });
  const ended = (message: TracedWork & { readonly result?: unknown; readonly error?: unknown }): void => {
    const span = spans.get(message);
    if (message.error !== undefined) fail(span, message.error instanceof DimsyncError ? message.error.code : "E_INTERNAL");
    else span?.setAttributes(message.attributesOf?.(message.result as never) ?? {});
    span?.end();
  };
  const subscribers = { start: () => {}, end: () => {}, asyncStart: () => {}, asyncEnd: ended, error: () => {} };
  channel.subscribe(subscribers);
  const stopRequests = onRequest((report) => {
    const endTime = Date.now();
    const options = { kind: SpanKind.CLIENT, startTime: endTime - report.durationMs, attributes: requestAttributes(report) };
    const span = tracer.startSpan(report.method, options, parent());
    if (report.error !== undefined) fail(span, isFailedStatus(report.status) ? String(report.status) : report.error);
    span.end(endTime);
  });
  return () => {
    stopRequests();
    channel.unsubscribe(subscribers);
    channel.start.unbindStore(inside);
  };
}

function fail(span: Span | undefined, type: string): void {
  span?.setAttribute("error.type", type);
  span?.setStatus({ code: SpanStatusCode.ERROR });
}

const isFailedStatus = (status: number | undefined): boolean => status !== undefined && status >= 400;

/** The semantic conventions of HTTP clients, without the query and the full URL. */
function requestAttributes({ method, path, origin, status, attempt }: CallReport): SpanAttributes {
  const { protocol, hostname, port } = new URL(origin);
  return {
    "http.request.method": method,
    "server.address": hostname.replace(/^\[(.*)\]$/u, "$1"),
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    "url.scheme": protocol.slice(0, -1),
    "url.path": path.replace(/\?.*$/su, ""),
    ...(status === undefined ? {} : { "http.response.status_code": status }),
    ...(attempt === 1 ? {} : { "http.request.resend_count": attempt - 1 }),
  };
}
