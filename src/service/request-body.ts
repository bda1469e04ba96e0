import { Secret } from "../model/secret.ts";
import type { SendableRequest } from "../model/service.ts";

export interface EncodedBody {
  readonly bytes: Buffer;
  /** Whether a secret or the API key is in it: then nothing of the answer may be quoted. */
  readonly secret: boolean;
}

/** The bytes of a request body. This is the one place where the secrets of a body are revealed. */
export function encodeBody(body: SendableRequest["body"], apiKey: Secret<string>): EncodedBody {
  let secret = false;
  // A replacer sees a member only after its toJSON, which for a Secret is "[secret]"; the holder still has the Secret itself.
  const reveal = function (this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
    const member = this[key];
    if (!(member instanceof Secret)) return value;
    secret = true;
    return member.reveal();
  };
  const text = JSON.stringify(body, reveal);
  return { bytes: Buffer.from(text), secret: secret || text.includes(JSON.stringify(apiKey.reveal()).slice(1, -1)) };
}
