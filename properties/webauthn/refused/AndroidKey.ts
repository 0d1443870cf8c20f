/** Statements of the format android-key: section 8.4. */
import { allApplications, androidKey, origin, purposes } from "../Attestations.ts";
import type { Statement } from "../Authenticator.ts";
import { integer, tagged } from "../DerWriter.ts";
import { other, without } from "./CertificateChanges.ts";
import { attested, type Case, malleated, spliced, withMember, withoutMember } from "./Changes.ts";

const ANDROID = "android_authorization";
const android = (...parts: Parameters<typeof androidKey>) => attested(androidKey(...parts));
const androidStatement = (statement: (honest: Statement) => unknown) => attested(androidKey(), { statement });

export const androids: ReadonlyArray<Case> = [
  ...["alg", "sig", "x5c"].map(
    (key): Case => [
      `an Android statement without ${key}`,
      "attestation_statement",
      androidStatement(withoutMember(key)),
    ],
  ),
  ["an Android statement with an unknown member", "attestation_statement", androidStatement(withMember("ver", "1"))],
  [
    "an Android signature broken",
    "attestation_signature",
    androidStatement((honest) => malleated(honest, (sig) => spliced(sig, 20, (sig[20] ?? 0) ^ 1))),
  ],
  ["an Android certificate of another key", "certificate_key", android({ signer: other })],
  ["an Android key attested for another response", "android_challenge", android({ challenge: new Uint8Array(32) })],
  ["an Android key with an empty challenge", "android_challenge", android({ challenge: new Uint8Array(0) })],
  [
    "an Android key without description",
    "certificate_extension",
    android({ extensions: without("1.3.6.1.4.1.11129.2.1.17") }),
  ],
  ["an Android description of seven fields", "certificate", android({ fields: (honest) => honest.slice(0, 7) })],
  ["an Android description of nine fields", "certificate", android({ fields: (honest) => [...honest, integer(1)] })],
  ["an Android key for all applications", ANDROID, android({ hardware: [purposes(2), allApplications, origin(0)] })],
  ["an Android key for all applications in software", ANDROID, android({ software: [allApplications] })],
  ["an Android key that was imported", ANDROID, android({ hardware: [purposes(2), origin(2)] })],
  ["an Android key that was derived", ANDROID, android({ hardware: [purposes(2), origin(1)] })],
  ["an Android key imported in software", ANDROID, android({ software: [origin(2)] })],
  ["an Android key for encryption", ANDROID, android({ hardware: [purposes(0, 1), origin(0)] })],
  [
    "an Android key for signing in software alone",
    ANDROID,
    android({ software: [purposes(2)], hardware: [purposes(1), origin(0)] }),
  ],
  [
    "an Android key made in its keystore in software alone",
    ANDROID,
    android({ software: [origin(0)], hardware: [purposes(2), origin(2)] }),
  ],
  ["an Android key for nothing", ANDROID, android({ hardware: [purposes(), origin(0)] })],
  ["an Android key with a purpose that is no set", "certificate", android({ hardware: [tagged(1, integer(2))] })],
  [
    "an Android certificate that has expired",
    "certificate_validity",
    android({ certificate: { notAfter: "250101000000Z" } }),
  ],
];
