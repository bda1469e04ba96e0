import { DimsyncError } from "../base/model/errors.ts";
import { isObject, setOwn } from "../base/model/json/json.ts";
import type { PlannedRequest, SendableRequest, SendableValue } from "../base/model/service.ts";
import { describeSecret, isSecretReference, type Secret, secretKey, secretsIn } from "../base/model/settings/secret.ts";

/**
 * The request with secrets instead of their references. The last step before sending; never stored.
 * Throws E_SECRET_MISSING.
 */
export function inlineSecrets({ method, path, body }: PlannedRequest, secrets: ReadonlyMap<string, Secret>): SendableRequest {
  const fill = (value: unknown): SendableValue => {
    if (isSecretReference(value)) {
      const secret = secrets.get(secretKey(value));
      if (secret === undefined)
        throw new DimsyncError(
          "E_SECRET_MISSING",
          `${describeSecret(value)} was not resolved before the first write, so nothing that needs it is sent.`,
        );
      return secret;
    }
    if (Array.isArray(value)) return value.map(fill);
    if (!isObject(value)) return value as SendableValue;
    const filled: Record<string, SendableValue> = {};
    for (const key of Object.keys(value)) setOwn(filled, key, fill(value[key]));
    return filled;
  };
  // The bodies of schemas have none, and can be large.
  if (secretsIn(body).length === 0) return { method, path, body };
  return { method, path, body: fill(body) as SendableRequest["body"] };
}
