/** Chains of attestation certificates: RFC 5280 section 6.1, as far as attestation needs it. */
import { memoized } from "../base/Memo.ts";
import { sameBytes } from "../codec/Bytes.ts";
import { Limits } from "../base/Limits.ts";
import type { CeremonyCrypto } from "./CeremonyCrypto.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { type X509Certificate, readCertificate } from "./Certificate.ts";
import type { RelyingParty } from "./RelyingParty.ts";
import { isSignature } from "./StatementSignature.ts";
import { type CborMap, cborBytes } from "./StrictCbor.ts";

/** A chain as a statement carries it: the certificate of the attestation key first, each signed by the next. */
export interface CertificateChain {
  readonly leaf: X509Certificate;
  readonly authorities: ReadonlyArray<X509Certificate>;
}

/**
 * Reads `x5c`: an array of one to {@link Limits.chainCertificates} certificates.
 *
 * @throws Refused `attestation_statement` or what {@link readCertificate} throws
 */
export const readChain = (statement: CborMap): CertificateChain => {
  const x5c = statement.get("x5c");
  demand(Array.isArray(x5c), "attestation_statement", "There is no x5c that is an array.");
  demand(x5c.length <= Limits.chainCertificates, "attestation_statement", "There are too many certificates in x5c.");
  const [leaf, ...authorities] = x5c.map((item) => {
    const der = cborBytes(item);
    if (der === undefined) throw new FailedCheck("attestation_statement", "A certificate in x5c is not a byte string.");
    return readCertificate(der);
  });
  if (leaf === undefined) throw new FailedCheck("attestation_statement", "There is no certificate in x5c.");
  return { leaf, authorities };
};

/**
 * Why a certificate cannot be a trusted root here, in one sentence; undefined where it can. For the configuration: an
 * unreadable root would make every certified registration fail.
 */
export const trustRootFault = (der: Uint8Array): string | undefined => {
  try {
    readCertificate(der);
    return undefined;
  } catch (fault) {
    if (fault instanceof FailedCheck) return fault.refusal.detail;
    throw fault;
  }
};

/** The roots that a relying party trusts. */
const rootsOf = memoized(
  ({ trustRoots }: RelyingParty): ReadonlyArray<X509Certificate> => trustRoots.map(readCertificate),
);

/**
 * Checks that every certificate is valid at a time and issued by the next, and that the chain leads to a trusted root
 * if there are any. With no roots configured, any consistent chain is accepted: it then tells which authenticator is
 * claimed, and nothing about who made the claim.
 *
 * @param at Unix milliseconds
 * @throws Refused `certificate_validity`, `certificate_chain` or `trust_root`
 */
export const checkChain = (
  crypto: CeremonyCrypto,
  { leaf, authorities }: CertificateChain,
  relyingParty: RelyingParty,
  at: number,
): void => {
  const chain = [leaf, ...authorities];
  for (const certificate of chain) checkValidity(certificate, at);
  for (const [index, issuer] of authorities.entries()) {
    // Authorities between this issuer and the leaf.
    const fault = issueFault(crypto, chain[index] ?? leaf, issuer, index);
    if (fault !== undefined) throw new FailedCheck("certificate_chain", fault);
  }
  const roots = rootsOf(relyingParty);
  if (roots.length === 0) return;
  const isAnchored = chain.some((certificate, index) =>
    roots.some((root) => isAnchoredIn(crypto, certificate, index, root, at)),
  );
  demand(isAnchored, "trust_root", "The chain leads to none of the trusted roots.");
};

const checkValidity = ({ notBefore, notAfter }: X509Certificate, at: number): void =>
  demand(notBefore <= at && at <= notAfter, "certificate_validity", "A certificate is not valid at this time.");

/** Why a certificate cannot have been issued by an authority. */
const issueFault = (
  crypto: CeremonyCrypto,
  subject: X509Certificate,
  issuer: X509Certificate,
  authoritiesBelow: number,
): string | undefined => {
  if (!sameBytes(subject.issuer, issuer.subject)) return "A certificate does not name the next one as its issuer.";
  const { basicConstraints, maySignCertificates, key } = issuer;
  // A certificate of an older version has no extensions, and so none that permits it.
  if (basicConstraints?.isAuthority !== true || !maySignCertificates)
    return "A certificate is issued by one that may issue none.";
  if ((basicConstraints.pathLength ?? authoritiesBelow) < authoritiesBelow)
    return "A chain is longer than one of its authorities allows.";
  const isSigned =
    subject.signatureKind === key.kind &&
    isSignature(crypto, key, subject.signatureHash, subject.signed, subject.signature);
  return isSigned ? undefined : "The signature of a certificate does not verify.";
};

/** The root may be part of the chain, or the issuer of its last certificate. */
const isAnchoredIn = (
  crypto: CeremonyCrypto,
  certificate: X509Certificate,
  index: number,
  root: X509Certificate,
  at: number,
): boolean =>
  sameBytes(certificate.der, root.der) ||
  (root.notBefore <= at && at <= root.notAfter && issueFault(crypto, certificate, root, index) === undefined);
