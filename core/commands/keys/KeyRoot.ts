/** Keys and generations in the registry root, each an element of its own (protocol.md 4f). */
import type { Codec } from "../../codec/Codec.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest, SetAccumulator } from "../../base/Digest.ts";
import { memoized } from "../../base/Memo.ts";
import { type Generation, generationCodec, type Key, keyCodec } from "./KeyRecord.ts";

const elements = <A extends object>(tag: string, codec: Codec<A>) => {
  const elementOf = memoized((row: A, crypto: Crypto): Digest => crypto.digest(tag, codec, row));
  /** The set with a row as it is now, in place of what it was before, if anything. */
  return (crypto: Crypto, set: SetAccumulator, before: A | undefined, now: A): SetAccumulator =>
    crypto.replaceInSet(set, before && elementOf(before, crypto), elementOf(now, crypto));
};

export const replaceKey = elements<Key>("CUSTODY_KEY_ROOT_V1", keyCodec);
export const replaceGeneration = elements<Generation>("CUSTODY_GENERATION_ROOT_V1", generationCodec);
