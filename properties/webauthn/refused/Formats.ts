/** Unknown and unsupported formats, and statements signed by the credential's own key: section 8.2. */
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { fidoU2f } from "../Attestations.ts";
import { type Making, none, packedSelf, secretKeyOf, type Statement } from "../Authenticator.ts";
import { after, attested, type Case, malleated, withMember, withoutMember } from "./Changes.ts";

const signature = (bytes: Uint8Array) => withMember("sig", bytes);
const self = (statement: (honest: Statement) => unknown): Partial<Making> => attested(packedSelf, { statement });

export const formats: ReadonlyArray<Case> = [
  ["fido-u2f", "attestation_format", attested(fidoU2f)],
  ...["android-safetynet", "compound", "Packed", "packed ", "", "__proto__", "constructor"].map(
    (format): Case => [`the format ${JSON.stringify(format)}`, "attestation_format", attested({ ...none, format })],
  ),
  ["self attestation without alg", "attestation_statement", self(withoutMember("alg"))],
  ["self attestation without sig", "attestation_statement", self(withoutMember("sig"))],
  ["self attestation with a sig that is text", "attestation_statement", self(withMember("sig", "sig"))],
  ["self attestation with an alg that is text", "attestation_statement", self(withMember("alg", "ES256"))],
  ["self attestation with an unknown member", "attestation_statement", self(withMember("x", 1))],
  ["self attestation with ecdaaKeyId", "attestation_statement", self(withMember("ecdaaKeyId", new Uint8Array(8)))],
  ["self attestation with ver", "attestation_statement", self(withMember("ver", "2.0"))],
  ["self attestation with another alg", "attestation_algorithm", self(withMember("alg", -35))],
  ["self attestation with RS256", "attestation_algorithm", self(withMember("alg", -257))],
  ["self attestation with an unknown alg", "attestation_algorithm", self(withMember("alg", -8))],
  ["self attestation with RS1", "attestation_algorithm", self(withMember("alg", -65_535))],
  ["self attestation with an empty sig", "attestation_signature", self(signature(new Uint8Array(0)))],
  ["self attestation with a zero sig", "attestation_signature", self(signature(hexToBytes("3006020100020100")))],
  ["self attestation with a bare sig", "attestation_signature", self(signature(new Uint8Array(64).fill(1)))],
  [
    "a sig with something behind",
    "attestation_signature",
    self((honest) => malleated(honest, (sig) => after(sig, "00"))),
  ],
  [
    "a sig with a long length",
    "attestation_signature",
    self((honest) => malleated(honest, (sig) => concatBytes(Uint8Array.of(0x30, 0x81), sig.subarray(1)))),
  ],
  ["a sig with a padded integer", "attestation_signature", self((honest) => malleated(honest, padded))],
  ["a sig that is negative", "attestation_signature", self(signature(hexToBytes("3006020180020101")))],
  [
    "self attestation by another key",
    "attestation_signature",
    {
      attestation: {
        ...packedSelf,
        state: (signable) => packedSelf.state({ ...signable, secretKey: secretKeyOf("another") }),
      },
    },
  ],
  [
    "self attestation of other client data",
    "attestation_signature",
    {
      attestation: {
        ...packedSelf,
        state: (signable) => packedSelf.state({ ...signable, clientDataHash: new Uint8Array(32) }),
      },
    },
  ],
];

/** A zero octet before r, with every length made to fit: BER takes it, DER does not. */
function padded(sig: Uint8Array): Uint8Array {
  const size = sig[3] ?? 0;
  const rest = sig.subarray(4);
  return concatBytes(Uint8Array.of(0x30, (sig[1] ?? 0) + 2, 0x02, size + 2, 0, 0), rest);
}
