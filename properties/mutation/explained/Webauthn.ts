/** Of `core/webauthn`. */
import { type ExplainedFiles, FOR_TYPES, REMEMBERED } from "./Reasons.ts";

export const webauthn: ExplainedFiles = {
  "core/webauthn/AndroidKey.ts": {
    "A key of RSA has no curve, and a point of another curve has another length, which the comparison sees.": [
      ['key.kind === "EC" && key.curve === "P-256"', 'key.kind === "EC" || key.curve === "P-256"'],
      ['key.kind === "EC"', "true"],
      ['key.curve === "P-256"', "true"],
    ],
  },
  "core/webauthn/Apple.ts": {
    [FOR_TYPES]: [['typeof key === "string"', "true"]],
  },
  "core/webauthn/Certificate.ts": {
    [`${FOR_TYPES} What comes last is there only where all before it is.`]: [
      ["body !== undefined", "true"],
      ["signedAlgorithm !== undefined && issuer !== undefined && subject !== undefined", "true"],
      [
        "signedAlgorithm !== undefined && issuer !== undefined && subject !== undefined",
        "signedAlgorithm !== undefined && issuer !== undefined || subject !== undefined",
      ],
      ["signedAlgorithm !== undefined && issuer !== undefined", "true"],
      [
        "signedAlgorithm !== undefined && issuer !== undefined",
        "signedAlgorithm !== undefined || issuer !== undefined",
      ],
      ["signedAlgorithm !== undefined", "true"],
      ["issuer !== undefined", "true"],
      ["subject !== undefined", "true"],
    ],
  },
  "core/webauthn/CertificateChain.ts": {
    [REMEMBERED]: [["known !== undefined", "false"]],
  },
  "core/webauthn/ClientData.ts": {
    [`${FOR_TYPES} An origin that is no text is none of the list.`]: [['typeof origin === "string"', "true"]],
  },
  "core/webauthn/Der.ts": {
    "No limit is beyond the bytes, so whoever is at their end is at the limit.": [["byte === undefined", "false"]],
    "The count is the last octet then, and has a bit set among those it counts, whichever it is from 1 to 7.": [
      ["length === 1 && unused !== 0", "false"],
    ],
    "Nothing else is thrown in the scan.": [["fault instanceof NotDer", "true"]],
  },
  "core/webauthn/EcdsaSignature.ts": {
    [`${FOR_TYPES} Where the first number is none, nothing is read as the second.`]: [
      ["between === undefined", "false"],
    ],
    "A number of 128 octets is longer than any field, and is found out by that.": [
      ["length >= LONG", "false"],
      ["length >= LONG", "length > LONG"],
    ],
    "A number that ends behind the bytes is followed by nothing, and the last one does not end where they do.": [
      ["end > der.length", "false"],
    ],
  },
  "core/webauthn/FinishRequest.ts": {
    [`${FOR_TYPES} What cannot be decoded is among the refusals.`]: [["invitation === undefined", "false"]],
  },
  "core/webauthn/StatementSignature.ts": {
    "A key of RSA has no curve, and neither has the algorithm.": [['key.kind === "EC"', "true"]],
  },
  "core/webauthn/StrictCbor.ts": {
    "Nothing else is thrown in the scan.": [["fault instanceof Malformed", "true"]],
  },
  "core/webauthn/Tpm.ts": {
    "Names of other kinds hold no attribute, whatever stands for them.": [["[]", '["Stryker was here"]']],
  },
};
