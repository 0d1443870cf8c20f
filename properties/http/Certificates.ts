/** Certificates for tests, made here from DER, so that none of them ever expires. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** DER: tag, definite length, content (X.690 8.1). */
const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts);
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...parts: ReadonlyArray<Uint8Array>): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const commonName = (name: string): Buffer => sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
const extension = (hex: string, value: Uint8Array): Buffer => sequence(oid(hex), der(0x04, value));

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const forever = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x18, Buffer.from("99991231235959Z")));

interface Issued {
  readonly pem: string;
  readonly key: KeyObject;
  readonly name: string;
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const keyPair = (): KeyPair => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** A certificate of RFC 5280 4.1 for 127.0.0.1, or an authority when it issues itself. */
export const issue = (name: string, issuer: Issued | undefined, pair: KeyPair = keyPair()): Issued => {
  const { publicKey, privateKey } = pair;
  const isAuthority = der(0x30, issuer === undefined ? der(0x01, Buffer.from([0xff])) : Buffer.alloc(0));
  const loopback = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const serial = createHash("sha256").update(name).digest().subarray(0, 8);
  serial[0] = 1;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    commonName(issuer?.name ?? name),
    forever,
    commonName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension("551d13", isAuthority), extension("551d11", loopback))),
  );
  const signature = sign("sha256", body, issuer?.key ?? privateKey);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  return { pem, key: privateKey, name };
};
