/** What a request to sign comes to by the contract's words: the message, and the operation that consents are given to. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { Encoding } from "effect";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Hash, Signing } from "../requests/KeyRequests.ts";

const hashers: Readonly<Record<Hash, (data: Uint8Array) => Uint8Array>> = {
  NONE: (data) => data,
  SHA256: sha256,
  SHA512: sha512,
  KECCAK256: keccak_256,
};

export const messageOf = ({ hash = "NONE", data }: Pick<Signing, "hash" | "data">): Uint8Array => hashers[hash](data);

/** A session's name among all. */
export const sessionOf = (coordinator: number, sessionId: string): string => `${coordinator} ${sessionId}`;

/** JSON with its names in order and nothing between (RFC 8785), of texts, whole numbers, records and nothing else. */
const inOrder = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${inOrder(each)}`).join(",")}}`;
};

/** The key in the path of a request to sign. */
export const keyIdIn = (path: string): string => path.split("/").at(-2) ?? "";

interface Body {
  readonly command: {
    readonly type: string;
    readonly authorityId: string;
    readonly artifact: { readonly scheme: string; readonly hash?: Hash; readonly data64: string };
  };
}

/** What an opened session is to sign, read from the request in it; undefined where it cannot be read. */
export const askedIn = ({
  evidence,
}: SignMessageOf<"Sign.Open">): Pick<Signing, "hash" | "data" | "scheme"> | undefined => {
  try {
    const { artifact }: Body["command"] = (JSON.parse(new TextDecoder().decode(evidence.rawBody)) as Body).command;
    const data = Encoding.decodeBase64(artifact.data64);
    return data._tag === "Left" ? undefined : { hash: artifact.hash, scheme: artifact.scheme, data: data.right };
  } catch {
    return undefined;
  }
};

/** The operation of an opened session: the digest of everything that decides about it (design 3.2). */
export const operationOf = (
  crypto: Pick<Crypto, "sha256OfText">,
  clusterId: string,
  { sub, iss }: Pick<ActorClaims, "sub" | "iss">,
  { record, keyId }: Pick<Rows["generations"], "record" | "keyId">,
  { generation, nonce, timestamp, expiresAt }: SignMessageOf<"Sign.Open">,
  { hash = "NONE", scheme, data }: Pick<Signing, "hash" | "data" | "scheme">,
): string => {
  const artifact = { scheme, hash, data64: Encoding.encodeBase64(data) };
  const envelope = {
    version: 1,
    cluster: clusterId,
    kind: "SIGN",
    owner: { iss: iss ?? "", sub },
    keyId,
    generation,
    record: `sha256:${record}`,
    request: { command: { type: "arbitrary", authorityId: "arbitrary", artifact }, generation },
    nonce,
    timestamp,
    expiresAt,
  };
  return crypto.sha256OfText(`SERVICE_OPERATION_V1\u0000${inOrder(envelope)}`);
};
