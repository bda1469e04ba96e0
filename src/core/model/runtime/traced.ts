import { tracingChannel } from "node:diagnostics_channel";

/** Work that is published to the channel: for OpenTelemetry (src/cli/telemetry.ts), and for users of the library. */
export interface TracedWork {
  /** The name of its span: "dimsync observe". The same for all work of one sort. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** More attributes, from the result. */
  readonly attributesOf?: (result: never) => Readonly<Record<string, string | number>>;
  /** Set when its span starts. */
  traceId?: string;
}

/** The tracing channel's name. Its messages are a TracedWork, with `result` or `error` when the work has ended. */
export const tracedChannel = "dimsync:work";
const channel = tracingChannel<unknown, TracedWork>(tracedChannel);

/** Does the work and publishes its start and end. Does nothing else if nobody listens. */
export function traced<T>(
  work: TracedWork & { readonly attributesOf?: (result: T) => TracedWork["attributes"] },
  run: (work: TracedWork) => Promise<T>,
): Promise<T> {
  if (!channel.start.hasSubscribers) return run(work);
  const started = { ...work };
  return channel.tracePromise(() => run(started), started);
}

/** The attributes of a command that has ended. */
export const exitAttributes = (code: number): TracedWork["attributes"] => ({ "process.exit.code": code });
