/** Effects of one command as values and as the certified bytes, which are read once wherever they are shared. */
import { Either } from "effect";
import type { Codec } from "../codec/Codec.ts";
import { decode } from "../codec/CborReader.ts";
import { encode } from "../codec/CborWriter.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import { memoized } from "../base/Memo.ts";

export interface Coded<E extends object> {
  readonly encode: (effects: E) => Uint8Array;
  /** Undefined where the bytes are no effects of this command. */
  readonly decode: (bytes: Uint8Array) => E | undefined;
  /** For bytes that this peer has signed for; throws {@link InvariantViolation} where they are no effects. */
  readonly certified: (bytes: Uint8Array) => E;
}

/** The container of the bytes states the version of everything in it, so a reader of the container knows it. */
export const coded = <E extends object>(codec: Codec<E>): Coded<E> => {
  const read = memoized((bytes: Uint8Array, _first: void, _second: void, written: E | undefined) =>
    written === undefined ? Either.getOrUndefined(decode(codec, bytes, Number.POSITIVE_INFINITY)) : written,
  );
  const decoded = (bytes: Uint8Array): E | undefined => read(bytes, undefined, undefined, undefined);
  return {
    encode: (effects) => {
      const bytes = encode(codec, effects);
      // Users of these very bytes need not read what was written.
      read(bytes, undefined, undefined, effects);
      return bytes;
    },
    decode: decoded,
    certified: (bytes) => {
      const effects = decoded(bytes);
      if (effects === undefined) throw new InvariantViolation("S2", "certified effects cannot be read");
      return effects;
    },
  };
};
