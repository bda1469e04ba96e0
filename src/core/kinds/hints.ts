import { atPointer, type Pointer } from "../base/model/json/pointer.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import type { Problem } from "../base/model/problem.ts";

// The service documents no lists of values, so no value is refused. The lists below are those of its public descriptions.

/** Whether a text is known, and what is. */
interface KnownValues {
  readonly has: (text: string) => boolean;
  readonly shown: string;
}

const oneOf = (values: readonly string[]): KnownValues => ({ has: (text) => values.includes(text), shown: values.join(", ") });

const knownValues = {
  replicationFrequency: {
    has: (text) => text === "manual" || text === "cron" || /^[1-9]\d*$/u.test(text),
    shown: 'manual, cron, and minutes as a string, such as "60"',
  },
  onSchemaUpdate: oneOf(["enableAll", "enableColumnChanges", "enableNamespaceChanges", "ignoreAll", "pauseConnection"]),
  authMethod: oneOf(["direct", "oAuth", "accessToken", "ssh", "keyPair", "customServiceAccount"]),
  connectionType: oneOf(["source"]),
  incremental_mode: oneOf(["Incremental", "Change Stream", "Change Tracking"]),
} as const satisfies Readonly<Record<string, KnownValues>>;

/** A hint for a value that dimsync does not know. It does not quote the value, which may come from the environment. */
export function unknownValue(manifest: Manifest, pointer: Pointer): readonly Problem[] {
  const member = pointer.slice(pointer.lastIndexOf("/") + 1);
  const value = atPointer(manifest, pointer);
  const known = Object.hasOwn(knownValues, member) ? knownValues[member as keyof typeof knownValues] : undefined;
  if (known === undefined || typeof value !== "string" || known.has(value)) return [];
  const message = `dimsync does not know this value of ${member}, and sends it as it is. It knows ${known.shown}. Check that the service accepts it before you apply.`;
  return [problemIn(manifest, pointer, { code: "I_VALUE_NOT_KNOWN", severity: "info", message })];
}
