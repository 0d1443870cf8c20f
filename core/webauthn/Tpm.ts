/** The format tpm: WebAuthn Level 3 section 8.3. */
import { concatBytes } from "@noble/hashes/utils.js";
import { sameBytes } from "../codec/Bytes.ts";
import { checkAaguidExtension, checkNoAuthority, checkVersion } from "./AttestationCertificate.ts";
import { attributesOf, type X509Certificate, Extensions } from "./Certificate.ts";
import { checkChain, readChain } from "./CertificateChain.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { oidOf, sequenceOf, taggedOf } from "./Der.ts";
import type { StatementCheck } from "./StatementCheck.ts";
import { checkStatementSignature, statementSignature } from "./StatementSignature.ts";
import { cborBytes } from "./StrictCbor.ts";
import { readCertifyInfo, readPublicArea } from "./TpmStructures.ts";

/** ver, alg, x5c, sig, certInfo, pubArea. */
const MEMBERS = 6;

/** Section 8.3, "Verification procedure". */
export const tpm: StatementCheck = (crypto, { statement, data, clientDataHash, relyingParty, at }) => {
  const signature = statementSignature(statement, true);
  const certInfo = cborBytes(statement.get("certInfo"));
  const pubArea = cborBytes(statement.get("pubArea"));
  demand(statement.get("ver") === "2.0", "attestation_statement", "The version of the TPM (ver) is not 2.0.");
  demand(certInfo !== undefined, "attestation_statement", "There is no certInfo that is a byte string.");
  demand(pubArea !== undefined, "attestation_statement", "There is no pubArea that is a byte string.");
  const chain = readChain(statement);
  demand(statement.size === MEMBERS, "attestation_statement", "There is a member that the format tpm does not have.");

  const { nameHash, nameAlgorithm, x, y } = readPublicArea(pubArea);
  const isSameKey = sameBytes(concatBytes(UNCOMPRESSED, x, y), data.key.point);
  demand(isSameKey, "tpm_public_area", "The key of the TPM is not the key of the credential.");
  const { extraData, name } = readCertifyInfo(certInfo);
  const digest = crypto.hash(signature.algorithm.hash, concatBytes(data.bytes, clientDataHash));
  demand(sameBytes(extraData, digest), "tpm_extra_data", "certInfo was made for another response (extraData).");
  const nameOfKey = concatBytes(
    Uint8Array.of(nameAlgorithm >> 8, nameAlgorithm & 0xff),
    crypto.hash(nameHash, pubArea),
  );
  demand(sameBytes(name, nameOfKey), "tpm_name", "certInfo certifies another key (name).");
  checkStatementSignature(crypto, signature, chain.leaf.key, certInfo);
  checkCertificate(chain.leaf, data.aaguid);
  checkChain(crypto, chain, relyingParty, at);
};

const UNCOMPRESSED = Uint8Array.of(0x04);

/** Section 8.3.1. */
const checkCertificate = (certificate: X509Certificate, aaguid: Uint8Array): void => {
  checkVersion(certificate);
  const isEmpty = certificate.subjectAttributes.length === 0;
  demand(isEmpty, "certificate_subject", "The subject of the attestation certificate is not empty.");
  checkAlternativeName(certificate);
  checkUsage(certificate);
  checkNoAuthority(certificate);
  checkAaguidExtension(certificate, aaguid);
};

/** TCG "EK Credential Profile", section 3.2.9: manufacturer, model and version, each once, in a directory name. */
const MANUFACTURER = "2.23.133.2.1";
const MODEL = "2.23.133.2.2";
const VERSION = "2.23.133.2.3";
const DIRECTORY_NAME = 4;

/** A vendor id: four bytes as digits. Vendors are not looked up, because no list of them is ever complete. */
const VENDOR = /^id:[0-9A-Fa-f]{8}$/;

const checkAlternativeName = ({ extensions }: X509Certificate): void => {
  const extension = extensions.get(Extensions.subjectAlternativeName);
  if (extension === undefined)
    throw new FailedCheck("certificate_extension", "The attestation certificate has no subject alternative name.");
  const names = sequenceOf(extension.read("the alternative names"), "the alternative names");
  const attributes = names.flatMap((name) => {
    const directory = taggedOf(name, DIRECTORY_NAME, "a directory name");
    return directory === undefined ? [] : attributesOf(directory);
  });
  /** The one attribute of this type; empty where there is none, or another. */
  const only = (type: string): string => {
    const [attribute, ...others] = attributes.filter(([oid]) => oid === type);
    return attribute === undefined || others.length > 0 ? "" : attribute[1];
  };
  const isComplete = only(MODEL) !== "" && only(VERSION) !== "";
  demand(isComplete, "certificate_extension", "The alternative name lacks the TPM's model or version.");
  const isVendor = VENDOR.test(only(MANUFACTURER));
  demand(isVendor, "certificate_extension", "The alternative name has no manufacturer of the TPM that is a vendor id.");
};

/** tcg-kp-AIKCertificate. */
const AIK_CERTIFICATE = "2.23.133.8.3";

const checkUsage = ({ extensions }: X509Certificate): void => {
  const extension = extensions.get(Extensions.extendedKeyUsage);
  const usages = extension === undefined ? [] : sequenceOf(extension.read("the extended key usage"), "the key usages");
  const isMeant = usages.some((usage) => oidOf(usage, "a key usage") === AIK_CERTIFICATE);
  demand(isMeant, "certificate_extension", "The attestation certificate is not one of a TPM's attestation key.");
};
