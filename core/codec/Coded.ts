/** Effects of one command as values and as the bytes that are certified: each is made of the other once. */
import { Either } from "effect";
import type { Codec } from "../codec/Codec.ts";
import { decode } from "../codec/CborReader.ts";
import { encode } from "../codec/CborWriter.ts";
import { InvariantViolation } from "../base/Invariant.ts";

export interface Coded<E extends object> {
  readonly encode: (effects: E) => Uint8Array;
  /** Undefined where the bytes are no effects of this command. */
  readonly decode: (bytes: Uint8Array) => E | undefined;
  /** For bytes that this peer has signed for; throws {@link InvariantViolation} where they are none. */
  readonly certified: (bytes: Uint8Array) => E;
}

export const coded = <E extends object>(codec: Codec<E>): Coded<E> => {
  const encoded = new WeakMap<E, Uint8Array>();
  const decoded = new WeakMap<Uint8Array, E>();
  const read = (bytes: Uint8Array): E | undefined => {
    const known = decoded.get(bytes);
    if (known !== undefined) return known;
    const effects = Either.getOrUndefined(decode(codec, bytes));
    if (effects !== undefined) decoded.set(bytes, effects);
    return effects;
  };
  return {
    encode: (effects) => {
      const known = encoded.get(effects);
      if (known !== undefined) return known;
      const bytes = encode(codec, effects);
      encoded.set(effects, bytes);
      decoded.set(bytes, effects);
      return bytes;
    },
    decode: read,
    certified: (bytes) => {
      const effects = read(bytes);
      if (effects === undefined) throw new InvariantViolation("S2", "certified effects cannot be read");
      return effects;
    },
  };
};
