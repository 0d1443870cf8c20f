/** The way back: from bytes to a value, or to the reason why there is none. */
import { Either } from "effect";
import { Limits } from "../base/Limits.ts";
import { CborSource } from "./CborSource.ts";
import type { Codec } from "./Codec.ts";
import { DecodeFault } from "./DecodeFault.ts";
import { NEWEST } from "./Versioned.ts";

/** The version that bytes start with, known or not; 0 where they start with none. */
export const versionOf = (bytes: Uint8Array): number => {
  try {
    return new CborSource(bytes, 2, 0, Number.POSITIVE_INFINITY).version();
  } catch (fault) {
    if (fault instanceof DecodeFault) return 0;
    throw fault;
  }
};

/**
 * Decodes deterministic CBOR strictly; the left side is one sentence that names the field and holds no value.
 *
 * @param newest the newest version of such a value that is known here
 */
export const decode = <A>(codec: Codec<A>, bytes: Uint8Array, newest = NEWEST): Either.Either<A, string> => {
  const source = new CborSource(bytes, Limits.cborItems, 0, newest);
  try {
    const value = codec.read(source);
    source.assertEnd();
    return Either.right(value);
  } catch (fault) {
    if (fault instanceof DecodeFault) return Either.left(fault.message);
    throw fault;
  }
};
