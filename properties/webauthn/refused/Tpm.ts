/** Statements of the format tpm: section 8.3. */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { directoryNames, packedSubject, tpm } from "../Attestations.ts";
import { secretKeyOf, type Statement, uint16 } from "../Authenticator.ts";
import { basicConstraints, signerOf } from "../Certificates.ts";
import { der, octets, oid, sequence } from "../DerWriter.ts";
import { AAGUID, BASIC, instead, without } from "./CertificateChanges.ts";
import { after, attested, type Case, malleated, spliced, withMember, withoutMember } from "./Changes.ts";

const PUB = "tpm_public_area";
const INFO = "tpm_certify_info";
const ofTpm = (...parts: Parameters<typeof tpm>) => attested(tpm(...parts));
const tpmStatement = (statement: (honest: Statement) => unknown) => attested(tpm(), { statement });
const [SAN, EKU] = ["2.5.29.17", "2.5.29.37"];
const [MAKER, MODEL, VERSION] = ["2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"];
const VENDOR = "id:414D4400";

export const tpms: ReadonlyArray<Case> = [
  ["a TPM of version 1.2", "attestation_statement", ofTpm({ ver: "1.2" })],
  ...["ver", "alg", "sig", "certInfo", "pubArea", "x5c"].map(
    (key): Case => [`a TPM's statement without ${key}`, "attestation_statement", tpmStatement(withoutMember(key))],
  ),
  ...["certInfo", "pubArea"].map(
    (key): Case => [
      `a TPM's statement with text for ${key}`,
      "attestation_statement",
      tpmStatement(withMember(key, "text")),
    ],
  ),
  ["a TPM's statement with an unknown member", "attestation_statement", tpmStatement(withMember("x", 1))],
  ["a TPM with an unknown alg", "attestation_algorithm", tpmStatement(withMember("alg", -8))],
  [
    "a TPM with another alg than its key's",
    "attestation_algorithm",
    ofTpm({ signer: { ...signerOf(secretKeyOf("aik")), alg: -257 } }),
  ],
  [
    "a TPM's signature broken",
    "attestation_signature",
    tpmStatement((honest) => malleated(honest, (sig) => spliced(sig, 20, (sig[20] ?? 0) ^ 1))),
  ],
  ["pubArea of an RSA key", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 1, 0x01) })],
  ["pubArea with an unknown name hash", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 3, 0x12) })],
  ["pubArea of another curve", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 15, 0x04) })],
  ["pubArea with a byte behind", PUB, ofTpm({ pubArea: (honest) => after(honest, "00") })],
  ["pubArea cut short", PUB, ofTpm({ pubArea: (honest) => honest.slice(0, -1) })],
  ["pubArea that is empty", PUB, ofTpm({ pubArea: () => new Uint8Array(0) })],
  ["pubArea of another key", PUB, ofTpm({ pubArea: (honest) => spliced(honest, 30, (honest[30] ?? 0) ^ 1) })],
  [
    "pubArea with a long coordinate",
    PUB,
    ofTpm({
      pubArea: (honest) => concatBytes(honest.subarray(0, 18), uint16(33), Uint8Array.of(0), honest.subarray(20)),
    }),
  ],
  ["certInfo with another magic", INFO, ofTpm({ magic: 0xff544348 })],
  ["certInfo of a quote", INFO, ofTpm({ type: 0x8018 })],
  ["certInfo with a byte behind", INFO, ofTpm({ certInfo: (honest) => after(honest, "00") })],
  ["certInfo cut short", INFO, ofTpm({ certInfo: (honest) => honest.slice(0, -1) })],
  ["certInfo that is empty", INFO, ofTpm({ certInfo: () => new Uint8Array(0) })],
  ["extraData of another response", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(32) })],
  ["extraData that is empty", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(0) })],
  ["extraData with a byte behind", "tpm_extra_data", ofTpm({ extraData: new Uint8Array(33) })],
  ["the name of another key", "tpm_name", ofTpm({ name: (honest) => spliced(honest, 10, (honest[10] ?? 0) ^ 1) })],
  ["a name with another hash", "tpm_name", ofTpm({ name: (honest) => spliced(honest, 1, 0x0c) })],
  ["a name without its hash's identifier", "tpm_name", ofTpm({ name: (honest) => honest.subarray(2) })],
  ["a TPM's certificate with a subject", "certificate_subject", ofTpm({ certificate: { subject: packedSubject } })],
  ["a TPM's certificate of version 1", "certificate", ofTpm({ certificate: { version: 1 } })],
  ["a TPM's certificate without alternative name", "certificate_extension", ofTpm({ extensions: without(SAN) })],
  [
    "an alternative name without manufacturer",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MODEL, "m"], [VERSION, "v"]) }),
  ],
  [
    "an alternative name without model",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, VENDOR], [VERSION, "v"]) }),
  ],
  [
    "an alternative name without version",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, VENDOR], [MODEL, "v"]) }),
  ],
  [
    "an alternative name with two manufacturers",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, VENDOR], [MAKER, "id:49465800"], [MODEL, "m"], [VERSION, "v"]) }),
  ],
  [
    "an alternative name with an empty model",
    "certificate_extension",
    ofTpm({ alternativeName: directoryNames([MAKER, VENDOR], [MODEL, ""], [VERSION, "v"]) }),
  ],
  ...["AMD", "414D4400", "id:", "id:414D440", "id:414D44000", "id:414D440G", "ID:414D4400", " id:414D4400"].map(
    (vendor): Case => [
      `an alternative name with the manufacturer ${JSON.stringify(vendor)}`,
      "certificate_extension",
      ofTpm({ alternativeName: directoryNames([MAKER, vendor], [MODEL, "m"], [VERSION, "v"]) }),
    ],
  ),
  [
    "an alternative name that is a host",
    "certificate_extension",
    ofTpm({ alternativeName: sequence(der(0x82, utf8ToBytes("tpm"))) }),
  ],
  ["a TPM's certificate without extended key usage", "certificate_extension", ofTpm({ extensions: without(EKU) })],
  [
    "a TPM's certificate for web servers",
    "certificate_extension",
    ofTpm({ extensions: instead({ type: EKU, value: sequence(oid("1.3.6.1.5.5.7.3.1")) }) }),
  ],
  ["a TPM's certificate without basic constraints", "certificate_extension", ofTpm({ extensions: without(BASIC) })],
  [
    "a TPM's certificate that is an authority",
    "certificate_extension",
    ofTpm({ extensions: instead(basicConstraints(true)) }),
  ],
  [
    "a TPM's certificate for another AAGUID",
    "certificate_aaguid",
    ofTpm({ extensions: instead({ type: AAGUID, value: octets(new Uint8Array(16).fill(2)) }) }),
  ],
  [
    "a TPM's certificate that has expired",
    "certificate_validity",
    ofTpm({ certificate: { notAfter: "250101000000Z" } }),
  ],
];
