/** Which backend computes what is real in the runs of a seed. */
import { nativePrimitives, nativeSigningKey } from "../../server/crypto/NativeCrypto.ts";
import { type Backend, portableBackend } from "../crypto/Cryptography.ts";
import { REAL_MIX } from "../base/Tier.ts";

/** Node's own library: the same bytes as the portable one, some ten times as fast. */
export const nativeBackend: Backend = { primitives: nativePrimitives, signingKey: nativeSigningKey };

/** In one of so many ranges of the mix, seeds are computed portably: with it one real seed in 16. */
const PORTABLE_STRETCH = 16;

/** Native except for a few seeds, so that a disagreement of the two libraries shows. */
export const backendOf = (seed: number): Backend =>
  Math.floor(seed / REAL_MIX) % PORTABLE_STRETCH === 0 ? portableBackend : nativeBackend;
