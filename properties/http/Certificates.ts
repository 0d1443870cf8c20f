/** Certificates for tests, made here from DER, so that none of them ever expires. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { bits, boolean, der, integer, name, octets, oid, sequence, tagged, time } from "../webauthn/DerWriter.ts";

const extension = (type: string, value: Uint8Array): Uint8Array => sequence(oid(type), octets(value));
/** A name that is empty has no part at all. */
const commonName = (text: string): Uint8Array => (text === "" ? name() : name(["2.5.4.3", text]));

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const FOREVER = "99991231235959Z";
const validity = (until: string): Uint8Array => sequence(time("200101000000Z"), time(until));

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

interface Particulars {
  readonly pair?: KeyPair;
  /** The last moment of its validity, as YYMMDDhhmmssZ or YYYYMMDDhhmmssZ. */
  readonly until?: string;
  /** Extended key usages. */
  readonly uses?: ReadonlyArray<string>;
}

/** A certificate of RFC 5280 4.1 for 127.0.0.1, or an authority when it issues itself. */
export const issue = (subject: string, issuer: Issued | undefined, particulars: Particulars = {}): Issued => {
  const { pair = keyPair(), until = FOREVER, uses = [] } = particulars;
  const { publicKey, privateKey } = pair;
  const isAuthority = issuer === undefined ? sequence(boolean(true)) : sequence();
  const loopback = sequence(der(0x87, Uint8Array.of(127, 0, 0, 1)));
  const extended = uses.length === 0 ? [] : [extension("2.5.29.37", sequence(...uses.map(oid)))];
  const serial = createHash("sha256").update(subject).digest().subarray(0, 8);
  serial[0] = 1;
  const body = sequence(
    tagged(0, integer(2)),
    der(0x02, serial),
    ecdsaWithSha256,
    commonName(issuer?.name ?? subject),
    validity(until),
    commonName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(3, sequence(extension("2.5.29.19", isAuthority), extension("2.5.29.17", loopback), ...extended)),
  );
  const signature = sign("sha256", body, issuer?.key ?? privateKey);
  const certificate = sequence(body, ecdsaWithSha256, bits(signature));
  const lines =
    Buffer.from(certificate)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  return { pem, key: privateKey, name: subject };
};
