/** What a stored descriptor says of its approver: whose key approves, and in which form. */
import { base64 } from "@scure/base";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import { strictBase64Url } from "../codec/Base64Url.ts";
import { type JsonObject, parseStrictJson } from "../codec/StrictJson.ts";
import { keyIdentityOf } from "../credential/KeyIdentity.ts";
import { FailedCheck } from "../webauthn/CeremonyRefusal.ts";
import { readCoseKey } from "../webauthn/CoseKey.ts";
import { WEBAUTHN_KEY_ALGORITHM } from "../webauthn/WebauthnDescriptor.ts";
import type { PolicyMeans } from "./PolicyRequest.ts";

interface Approving {
  /** Of the key, in whatever format: a passkey and a P256 key that are one key have one identity. */
  readonly keyIdentity: Digest;
}

export interface SignatureApproving extends Approving {
  readonly type: "SIGNATURE";
  readonly algorithm: string;
}

/** Accepts assertions of this credential, and never a bare signature of the same key (contract 7). */
export interface PasskeyApproving extends Approving {
  readonly type: "WEBAUTHN";
  readonly algorithm: "ES256";
  readonly credentialId: string;
  readonly rpId: string;
}

const text = (members: JsonObject, name: string): string => {
  const value = members.get(name);
  return typeof value === "string" ? value : "";
};

const base64Bytes = (encoded: string): Uint8Array | undefined =>
  Either.getOrUndefined(Either.try(() => base64.decode(encoded)));

const signatureApproving = (
  { crypto, providers }: PolicyMeans,
  members: JsonObject,
): SignatureApproving | undefined => {
  const algorithm = text(members, "algorithm");
  const keyBytes = base64Bytes(text(members, "publicKey64"));
  if (keyBytes === undefined || keyBytes.length > Limits.publicKeyBytes || !providers.has(algorithm)) return undefined;
  return { type: "SIGNATURE", algorithm, keyIdentity: keyIdentityOf(crypto, algorithm, keyBytes) };
};

/** Of a canonical COSE_Key and nothing behind it: the compressed point. */
const passkeyBytes = (cose: Uint8Array): Uint8Array | undefined => {
  try {
    const { key, end } = readCoseKey(cose, 0);
    return end === cose.length ? key.keyBytes : undefined;
  } catch (fault) {
    if (fault instanceof FailedCheck) return undefined;
    throw fault;
  }
};

const passkeyApproving = ({ crypto }: PolicyMeans, members: JsonObject): PasskeyApproving | undefined => {
  const cose = strictBase64Url(text(members, "publicKeyCose"), Limits.publicKeyBytes);
  const keyBytes = cose && passkeyBytes(cose);
  const credentialId = text(members, "credentialId");
  const rpId = text(members, "rpId");
  if (keyBytes === undefined || credentialId === "" || rpId === "") return undefined;
  const keyIdentity = keyIdentityOf(crypto, WEBAUTHN_KEY_ALGORITHM, keyBytes);
  return { type: "WEBAUTHN", algorithm: "ES256", credentialId, rpId, keyIdentity };
};

/**
 * Reads a descriptor (contract 2.2, 2.3). Its key is not validated again: it was before it was digested.
 *
 * @param descriptor the JSON under a ref's digest
 * @returns who approves; undefined for a credential or an algorithm that this program cannot verify approvals of
 */
export const approvingBy = (
  means: PolicyMeans,
  descriptor: string,
): SignatureApproving | PasskeyApproving | undefined => {
  const members = Either.getOrUndefined(parseStrictJson(utf8ToBytes(descriptor)));
  if (!(members instanceof Map) || members.get("version") !== 1) return undefined;
  const type: unknown = members.get("type");
  if (type === "SIGNATURE") return signatureApproving(means, members);
  return type === "WEBAUTHN" ? passkeyApproving(means, members) : undefined;
};
