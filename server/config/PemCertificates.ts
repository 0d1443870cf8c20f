/** Certificates in a PEM file (RFC 7468 5). */
import { X509Certificate } from "node:crypto";

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Every certificate of a PEM file; undefined when there is none or one is malformed. */
export const certificatesIn = (pem: Buffer): ReadonlyArray<X509Certificate> | undefined => {
  const blocks = pem.toString("latin1").match(block);
  try {
    return blocks?.map((text) => new X509Certificate(text));
  } catch {
    return undefined;
  }
};

/** The fault of a file in which {@link certificatesIn} finds nothing. */
export const notCertificates = "holds no PEM certificate, or a malformed one; name a file of BEGIN CERTIFICATE blocks";
