/**
 * The signature algorithms of the native backend: those of the core, with the check of Ed25519 keys by
 * libsodium, compiled to WebAssembly, which asks the same in a seventh of the time (docs/dependencies.md).
 */
import { Either } from "effect";
import sodium, { ready } from "libsodium-wrappers-sumo";
import { installedProviders, type SignatureProvider } from "../../core/credential/SignatureProvider.ts";
import { bareKey, keyEncodings } from "../../core/credential/SubjectPublicKeyInfo.ts";

// Compiling it takes some 50 ms, once, while the server starts; only the server imports this file.
await ready;

/**
 * Asks libsodium whether the point is canonical, on the curve, not of small order and in the subgroup of
 * prime order. What it does not accept goes to the core's own check, which says why.
 */
const ed25519Of = (portable: SignatureProvider): SignatureProvider => ({
  algorithm: portable.algorithm,
  normalize: (encoded) => {
    const key = Either.getOrUndefined(bareKey(keyEncodings.ED25519, encoded));
    // A copy, as the core makes one: the caller's bytes may change after they were checked.
    return key !== undefined && sodium.crypto_core_ed25519_is_valid_point(key)
      ? Either.right(Uint8Array.from(key))
      : portable.normalize(encoded);
  },
});

/** Every installed algorithm by its canonical name, in the order of {@link installedProviders}. */
export const nativeProviders: ReadonlyMap<string, SignatureProvider> = new Map(
  [...installedProviders].map(([algorithm, provider]) => [
    algorithm,
    algorithm === "ED25519" ? ed25519Of(provider) : provider,
  ]),
);
