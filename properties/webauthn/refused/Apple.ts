/** Statements of the format apple: section 8.8. */
import { apple } from "../Attestations.ts";
import { integer, octets, sequence, tagged } from "../DerWriter.ts";
import { other, without } from "./CertificateChanges.ts";
import { attested, type Case, withMember, withoutMember } from "./Changes.ts";

const ofApple = (...parts: Parameters<typeof apple>) => attested(apple(...parts));

export const apples: ReadonlyArray<Case> = [
  ["an Apple statement without x5c", "attestation_statement", attested(apple(), { statement: withoutMember("x5c") })],
  [
    "an Apple statement with a sig",
    "attestation_statement",
    attested(apple(), { statement: withMember("sig", new Uint8Array(8)) }),
  ],
  ["an Apple certificate for another response", "apple_nonce", ofApple({ nonce: new Uint8Array(32) })],
  ["an Apple certificate with a nonce cut short", "apple_nonce", ofApple({ nonce: new Uint8Array(31) })],
  [
    "an Apple certificate without nonce",
    "certificate_extension",
    ofApple({ extensions: without("1.2.840.113635.100.8.2") }),
  ],
  [
    "an Apple nonce in another tag",
    "certificate",
    ofApple({ nonceExtension: () => sequence(tagged(2, octets(new Uint8Array(32)))) }),
  ],
  ["an Apple nonce that is bare", "certificate", ofApple({ nonceExtension: () => octets(new Uint8Array(32)) })],
  [
    "an Apple nonce with something behind",
    "certificate",
    ofApple({ nonceExtension: (honest) => sequence(honest.subarray(2), integer(1)) }),
  ],
  ["an Apple certificate of another key", "certificate_key", ofApple({ signer: other })],
  [
    "an Apple certificate that has expired",
    "certificate_validity",
    ofApple({ certificate: { notAfter: "250101000000Z" } }),
  ],
];
