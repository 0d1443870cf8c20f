/** Checks of attestation certificates that several formats share (WebAuthn Level 3 sections 8.2.1 and 8.3.1). */
import { sameBytes } from "../codec/Bytes.ts";
import { type X509Certificate, Extensions } from "./Certificate.ts";
import { demand } from "./CeremonyRefusal.ts";
import { octetsOf } from "./Der.ts";

export const checkVersion = ({ version }: X509Certificate): void =>
  demand(version === 3, "certificate", "The attestation certificate is not of version 3.");

export const checkNoAuthority = ({ basicConstraints }: X509Certificate): void => {
  const isStated = basicConstraints !== undefined && !basicConstraints.isAuthority;
  demand(isStated, "certificate_extension", "The attestation certificate does not say that it is no authority.");
};

/** id-fido-gen-ce-aaguid, if present: the AAGUID in an octet string, never critical. */
export const checkAaguidExtension = ({ extensions }: X509Certificate, aaguid: Uint8Array): void => {
  const extension = extensions.get(Extensions.aaguid);
  if (extension === undefined) return;
  demand(!extension.critical, "certificate_aaguid", "The extension with the AAGUID is critical.");
  const stated = octetsOf(extension.read("the AAGUID"), "the AAGUID");
  demand(sameBytes(stated, aaguid), "certificate_aaguid", "The certificate is for another AAGUID.");
};
