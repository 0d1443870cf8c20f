/** Changes to the certificate of an honest registration. */
import { secretKeyOf } from "../Authenticator.ts";
import { type ExtensionFields, signerOf } from "../Certificates.ts";
import { name } from "../DerWriter.ts";

/** The extensions without those of one type. */
export const without = (type: string) => (honest: ReadonlyArray<ExtensionFields>) =>
  honest.filter((each) => each.type !== type);
/** With one more, whether or not there is one of its type. */
export const and = (extension: ExtensionFields) => (honest: ReadonlyArray<ExtensionFields>) => [...honest, extension];
/** With this one in place of those of its type. */
export const instead = (extension: ExtensionFields) => (honest: ReadonlyArray<ExtensionFields>) => [
  ...honest.filter((each) => each.type !== extension.type),
  extension,
];
/** A certificate of another name. */
export const subject = (...attributes: ReadonlyArray<readonly [string, string]>) => ({
  certificate: { subject: name(...attributes) },
});
/** Object identifiers: the AAGUID of WebAuthn Level 3 section 8.2.1, and basic constraints (RFC 5280). */
export const AAGUID = "1.3.6.1.4.1.45724.1.1.4";
export const BASIC = "2.5.29.19";
/** A key that is not the one which the credential has. */
export const other = signerOf(secretKeyOf("other"));
