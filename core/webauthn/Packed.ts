/** The format packed: WebAuthn Level 3 section 8.2. */
import { joinedBytes } from "../codec/Slab.ts";
import { checkAaguidExtension, checkNoAuthority, checkVersion } from "./AttestationCertificate.ts";
import { type X509Certificate } from "./Certificate.ts";
import { checkChain, readChain } from "./CertificateChain.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import type { StatementCheck } from "./StatementCheck.ts";
import { checkStatementSignature, statementSignature } from "./StatementSignature.ts";

const SELF = 2;
const CERTIFIED = 3;

/** Section 8.2, "Verification procedure". */
export const packed: StatementCheck = (crypto, input) => {
  const { statement, data, clientDataHash, relyingParty, at } = input;
  const signature = statementSignature(statement);
  const signed = joinedBytes(data.bytes, clientDataHash);
  if (!statement.has("x5c")) {
    demand(statement.size === SELF, "attestation_statement", "There is a member beside alg and sig.");
    const key = { kind: "EC", curve: "P-256", point: data.key.point } as const;
    return checkStatementSignature(crypto, signature, key, signed);
  }
  demand(statement.size === CERTIFIED, "attestation_statement", "There is a member beside alg, sig and x5c.");
  const chain = readChain(statement);
  checkStatementSignature(crypto, signature, chain.leaf.key, signed);
  checkCertificate(chain.leaf, data.aaguid);
  checkChain(crypto, chain, relyingParty, at);
};

const COUNTRY = "2.5.4.6";
const ORGANIZATION = "2.5.4.10";
const UNIT = "2.5.4.11";
const COMMON_NAME = "2.5.4.3";

/** Section 8.2.1. */
const checkCertificate = (certificate: X509Certificate, aaguid: Uint8Array): void => {
  checkVersion(certificate);
  const country = attributeOf(certificate, COUNTRY);
  demand(/^[A-Z]{2}$/.test(country), "certificate_subject", "The country is not two letters of ISO 3166.");
  demand(attributeOf(certificate, ORGANIZATION) !== "", "certificate_subject", "The organization is empty.");
  const isUnit = attributeOf(certificate, UNIT) === "Authenticator Attestation";
  demand(isUnit, "certificate_subject", "The unit of the subject is not Authenticator Attestation.");
  demand(attributeOf(certificate, COMMON_NAME) !== "", "certificate_subject", "The common name is empty.");
  checkNoAuthority(certificate);
  checkAaguidExtension(certificate, aaguid);
};

/** The one attribute of this type. */
const attributeOf = ({ subjectAttributes }: X509Certificate, type: string): string => {
  const [text, ...others] = subjectAttributes.filter(([oid]) => oid === type).map(([, value]) => value);
  if (text !== undefined && others.length === 0) return text;
  throw new FailedCheck(
    "certificate_subject",
    "The subject does not have exactly one country, organization, unit and name.",
  );
};
