import { generateKeyPairSync, sign } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import { json, listen } from "../../support/loopback.ts";

// A certificate for one test run: one in the repository would expire, and would need a private key
// there. Only the parts that TLS needs, in DER.

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length: size } = content;
  // The shortest form, which OpenSSL requires.
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const hex = (text: string): Buffer => Buffer.from(text, "hex");
const utcTime = (text: string): Buffer => der(0x17, Buffer.from(text));

const ecdsaWithSha256 = sequence(hex("06082a8648ce3d040302"));
const commonName = hex("0603550403");
const subjectAltName = hex("0603551d11");
const basicConstraints = hex("0603551d13");
const dnsName = 0x82;

/** A self-signed certificate for one host name, and its key, in PEM. */
export function selfSigned(host: string): { readonly cert: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from("dimsync test")))));
  const extensions = sequence(
    sequence(basicConstraints, der(0x04, sequence(hex("0101ff")))),
    sequence(subjectAltName, der(0x04, sequence(der(dnsName, Buffer.from(host))))),
  );
  const toBeSigned = sequence(
    hex("a003020102"),
    hex("020101"),
    ecdsaWithSha256,
    name,
    sequence(utcTime("200101000000Z"), utcTime("491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, hex("00"), sign("sha256", toBeSigned, privateKey));
  const body = sequence(toBeSigned, ecdsaWithSha256, signature)
    .toString("base64")
    .replace(/.{64}(?!$)/gu, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** A service with this certificate, which answers every request with an empty list. */
export async function tlsService(certificate: ReturnType<typeof selfSigned>) {
  const received: { readonly method: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(certificate, (request, response) => {
    received.push({ method: request.method, headers: request.headers });
    request.resume();
    json(response, { data: { items: [], id: "a-1" } });
  });
  return { ...(await listen(server)), received };
}
