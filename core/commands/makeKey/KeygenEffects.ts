/** What a certified request makes of the rows of a key: computed by each member from the request and its own rows. */
import { digest, record, type TypeOf } from "../../codec/Codec.ts";
import { coded } from "../../codec/Coded.ts";
import { formsOf, kept } from "../../codec/Versioned.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import type { EffectsAt } from "../../protocol/Command.ts";
import type { Topology } from "../../protocol/Topology.ts";
import { ARBITRARY } from "../keys/KeyId.ts";
import { generationDigest } from "../keys/GenerationDigest.ts";
import { type Generation, generationCodec, type Key, keyCodec } from "../keys/KeyRecord.ts";
import { KEYS_SINCE, type KeyRows } from "../keys/Tables.ts";
import type { Making } from "./Making.ts";

const effectsCodec = kept(
  formsOf(
    record({
      /** The key from now on. */
      key: keyCodec,
      generation: generationCodec,
      keyIdentity: digest,
      requestDigest: digest,
    }),
    KEYS_SINCE,
  ),
);
export type KeygenEffects = TypeOf<typeof effectsCodec>;
export const keygenEffects = coded(effectsCodec);

/** What a request builds on: the key and its newest generation, both absent for a new key. */
export interface Base {
  readonly key: Key | undefined;
  readonly generation: Generation | undefined;
}

/** The algorithm and the scheme of the key, which a new key's request names and any other keeps. */
export type SuiteName = Pick<Key, "algorithm" | "scheme">;

export const keygenEffectsAt =
  (
    crypto: Crypto,
    topology: Topology,
    making: Making,
    { algorithm, scheme }: SuiteName,
    base: Base,
    pending: KeyRows["pending"],
    keyIdentity: Digest,
  ): EffectsAt =>
  ({ proposedAt, version }) => {
    const at = Math.max(proposedAt, base.key?.updatedAt ?? 0);
    const key: Key = {
      keyId: making.keyId,
      algorithm,
      scheme,
      status: "ACTIVE",
      generation: making.base + 1,
      revision: (base.key?.revision ?? 0) + 1,
      assetOwner: making.assetOwner ?? base.key?.assetOwner,
      createdAt: base.key?.createdAt ?? at,
      updatedAt: at,
    };
    const { publicKey, group, transcript } = pending;
    const agreed = {
      generation: key.generation,
      publicKey,
      group,
      authorities: making.authorities ?? base.generation?.authorities ?? [ARBITRARY],
    };
    return keygenEffects.encode({
      // Nobody signs for keys in an older version, whatever was proposed.
      version: Math.max(version, KEYS_SINCE),
      key,
      generation: {
        keyId: key.keyId,
        ...agreed,
        state: "ACTIVE",
        madeBy: making.madeBy,
        record: generationDigest(crypto, topology, key, agreed),
        transcript,
        createdAt: at,
        destroyedAt: undefined,
      },
      keyIdentity,
      requestDigest: making.requestDigest,
    });
  };
