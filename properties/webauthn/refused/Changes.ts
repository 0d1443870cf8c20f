/** Changes to a part of an honest registration. */
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import type { AttestationFormat, CredentialJson, Making, Statement } from "../Authenticator.ts";

/** Something to refuse: how it is made, and the `code` of the check that must fail. */
export type Case = readonly [name: string, code: string, change: Partial<Making>];
/** The same, changed where the credential is JSON already. */
export type JsonCase = readonly [name: string, code: string, change: (honest: CredentialJson) => unknown];

/** With other octets from a place on. */
export const spliced = (bytes: Uint8Array, at: number, ...replacement: ReadonlyArray<number>): Uint8Array => {
  const copy = bytes.slice();
  copy.set(replacement, at);
  return copy;
};
/** With more octets behind, written in hexadecimal. */
export const after = (bytes: Uint8Array, text: string): Uint8Array => concatBytes(bytes, hexToBytes(text));
/** With one more member at the end of a JSON object. */
export const member = (text: string) => (honest: string) => honest.replace(/\}$/, `,${text}}`);
export const replaced = (from: string | RegExp, to: string) => (honest: string) => honest.replace(from, to);
export const withMember = (key: string, value: unknown) => (honest: Statement) => new Map([...honest, [key, value]]);
export const withoutMember = (key: string) => (honest: Statement) =>
  new Map([...honest].filter(([name]) => name !== key));

/** With another signature made of the right one. */
export const malleated = (honest: Statement, change: (sig: Uint8Array) => Uint8Array): Statement => {
  const sig = honest.get("sig");
  return sig instanceof Uint8Array ? new Map([...honest, ["sig", change(sig)]]) : honest;
};

/** Made with an attestation, and what else is changed. */
export const attested = (attestation: AttestationFormat, more: Partial<Making> = {}): Partial<Making> => ({
  attestation,
  ...more,
});
