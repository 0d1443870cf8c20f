/** Credentials as JSON whose members contradict what the authenticator attests, or that are not those of a registration. */
import { Either, Encoding } from "effect";
import type { CredentialJson } from "../Authenticator.ts";
import type { JsonCase } from "./Changes.ts";

const response = (more: object) => (honest: CredentialJson) => ({
  ...honest,
  response: { ...honest.response, ...more },
});
const flipped = (text: string): string => (text.startsWith("A") ? "B" : "A") + text.slice(1);
const withZero = (text: string): string =>
  Encoding.encodeBase64Url(Uint8Array.of(...Either.getOrThrow(Encoding.decodeBase64Url(text)), 0));
const otherId = Encoding.encodeBase64Url(new Uint8Array(32).fill(9));

export const json: ReadonlyArray<JsonCase> = [
  ["an id that is not the attested one", "id", (honest) => ({ ...honest, id: otherId })],
  ["a rawId that is not the attested one", "raw_id", (honest) => ({ ...honest, rawId: otherId })],
  ["neither id the attested one", "id", (honest) => ({ ...honest, id: otherId, rawId: otherId })],
  ["an id cut short", "id", (honest) => ({ ...honest, id: honest.id.slice(0, -3) })],
  [
    "other authenticatorData reported",
    "reported_authenticator_data",
    (honest) => response({ authenticatorData: flipped(honest.response.authenticatorData) })(honest),
  ],
  ["authenticatorData reported in part", "reported_authenticator_data", response({ authenticatorData: "AAAA" })],
  [
    "another publicKey reported",
    "reported_public_key",
    (honest) => response({ publicKey: `${honest.response.publicKey.slice(0, -6)}AAAAAA` })(honest),
  ],
  [
    "a publicKey reported with a byte behind",
    "reported_public_key",
    (honest) => response({ publicKey: withZero(honest.response.publicKey) })(honest),
  ],
  ["a bare publicKey reported", "reported_public_key", response({ publicKey: "BAAA" })],
  ["another algorithm reported", "reported_algorithm", response({ publicKeyAlgorithm: -257 })],
  ["algorithm 0 reported", "reported_algorithm", response({ publicKeyAlgorithm: 0 })],
  ...[
    "appid",
    "prf",
    "largeBlob",
    "hmacCreateSecret",
    "credProtect",
    "payment",
    "CredProps",
    "credprops",
    "__proto__",
  ].map(
    (extension): JsonCase => [
      `the output of the extension ${extension}`,
      "client_extension",
      (honest) => ({
        ...honest,
        clientExtensionResults: JSON.parse(`{"credProps":{},${JSON.stringify(extension)}:true}`),
      }),
    ],
  ),
  ["another type of credential", "invalid_value", (honest) => ({ ...honest, type: "password" })],
  ["a padded id", "invalid_value", (honest) => ({ ...honest, id: `${honest.id}=` })],
  ["an attachment nobody knows", "invalid_value", (honest) => ({ ...honest, authenticatorAttachment: "internal" })],
  ["a descriptor of one's own", "unknown_field", (honest) => ({ ...honest, descriptor: {} })],
  ["an assertion's signature", "unknown_field", response({ signature: "AAAA" })],
  ["transports that are text", "wrong_type", response({ transports: "usb" })],
  ["client data in the other alphabet", "invalid_value", response({ clientDataJSON: "++//" })],
  ["no attestation object", "missing_field", response({ attestationObject: undefined })],
  ["a null attestation object", "null_value", response({ attestationObject: null })],
];
