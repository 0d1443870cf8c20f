/** What a peer stores of keys. */
import { bytes, type Codec, digest, list, nullable, record, text, uint } from "../../codec/Codec.ts";
import { type Forms, formsOf } from "../../codec/Versioned.ts";
import { Limits } from "../../base/Limits.ts";
import { numberKey, type RowView, type RowsOf, type View, viewOf } from "../../protocol/Tables.ts";
import { generationCodec, groupCodec, keyCodec } from "./KeyRecord.ts";

/** The first version that has keys. */
export const KEYS_SINCE = 3;

/** The form of a row or message that came with keys. */
export const sinceKeys = <A>(codec: Codec<A>): Forms<A> => formsOf(codec, KEYS_SINCE);

export const keyTables = {
  /** By key id. */
  custodyKeys: sinceKeys(keyCodec),
  /** By {@link generationKey}. That the whole key is destroyed is not written into each (GenerationState.ts). */
  generations: sinceKeys(generationCodec),
  /** By {@link generationKey}: this peer's own share, encrypted; in no root, page or message. */
  shares: sinceKeys(record({ box: bytes(Limits.shareBoxBytes) })),
  /** By {@link generationKey}: what was made by all members and is not certified yet, with this peer's share of it. */
  pending: sinceKeys(
    record({
      keyId: text(Limits.keyIdCharacters),
      generation: uint,
      sessionId: digest,
      /** The request that it was made for. */
      requestDigest: digest,
      publicKey: text(2 * Limits.publicKeyBytes),
      group: groupCodec,
      transcript: digest,
      box: bytes(Limits.shareBoxBytes),
      /** Unix milliseconds. */
      storedAt: uint,
      /** The incarnations of all members, in member order, when it was made. */
      incarnations: list(uint, Limits.members),
    }),
  ),
  /** By the digest of an operation: what this peer has consented to sign for it, for ever the only message. */
  consents: sinceKeys(
    record({
      keyId: text(Limits.keyIdCharacters),
      generation: uint,
      messageDigest: digest,
      /** Unix milliseconds: the operation's deadline. */
      expiresAt: uint,
      consentedAt: uint,
      /** The peer that coordinates the signature. */
      coordinator: uint,
      /** The digest of its caller's command. */
      commandDigest: nullable(digest),
    }),
  ),
  /** One row: the latest deadline of all consents that were removed; nothing up to it is consented to any more. */
  consentFloor: sinceKeys(record({ expiresAt: uint })),
};
export type KeyRows = RowsOf<typeof keyTables>;

export const keyRows = (view: RowView): View<KeyRows> => viewOf(view, keyTables);

/** Generations of one key follow each other in the order of their numbers. */
export const generationKey = (keyId: string, generation: number): string => `${keyId}/${numberKey(generation)}`;
