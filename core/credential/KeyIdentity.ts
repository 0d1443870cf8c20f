/** What makes two keys the same key: canonical algorithm plus normalized key (contract 2.2.6). */
import { bytes, pair, text } from "../codec/Codec.ts";
import { Limits } from "../base/Limits.ts";
import type { Digest } from "../base/Digest.ts";
import type { Crypto } from "../crypto/Crypto.ts";

const KEY_TAG = "CUSTODY_KEY_V1";
const keyCodec = pair(text(64), bytes(Limits.publicKeyBytes));

/** The same for a key in every format; the same bytes on two curves are two keys. */
export const keyIdentityOf = (crypto: Pick<Crypto, "digest">, algorithm: string, keyBytes: Uint8Array): Digest =>
  crypto.digest(KEY_TAG, keyCodec, [algorithm, keyBytes]);
