/** The way back: bytes to a value, or the reason why not. */
import { Either } from "effect";
import { Limits } from "../base/Limits.ts";
import { CborSource } from "./CborSource.ts";
import type { Codec } from "./Codec.ts";
import { DecodeFault } from "./DecodeFault.ts";

/** Decodes deterministic CBOR strictly; the left side is one sentence that names the field and holds no value. */
export const decode = <A>(codec: Codec<A>, bytes: Uint8Array): Either.Either<A, string> => {
  const source = new CborSource(bytes, Limits.cborItems);
  try {
    const value = codec.read(source);
    source.assertEnd();
    return Either.right(value);
  } catch (fault) {
    if (fault instanceof DecodeFault) return Either.left(fault.message);
    throw fault;
  }
};
