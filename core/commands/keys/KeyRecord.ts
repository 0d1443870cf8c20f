/** A key and its generations as every peer stores them: everything but the shares is public. */
import { digest, list, nullable, oneOf, record, text, type TypeOf, uint } from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";

/** Of an Ed25519 or secp256k1 point, and of a toy one. */
const ELEMENT_CHARACTERS = 66;

/** Words of what is stored: the place in the list is what is written. */
export const keyStatuses = ["ACTIVE", "DESTROYED"] as const;
export const generationStates = ["ACTIVE", "HISTORICAL", "SUPERSEDED", "DESTROYED"] as const;
export const makings = ["CREATE", "ROTATE", "REFRESH"] as const;
export type Making = (typeof makings)[number];

/** What everybody knows of the shares; both lists are empty where the key is not shared. */
export const groupCodec = record({
  threshold: uint,
  /** To the coefficients of the polynomial, the constant one first. */
  commitments: list(text(ELEMENT_CHARACTERS), Limits.members),
  /** By share index, ascending. */
  verifyingShares: list(record({ index: uint, element: text(ELEMENT_CHARACTERS) }), Limits.members),
});
export type GroupRecord = TypeOf<typeof groupCodec>;

export const keyCodec = record({
  keyId: text(Limits.keyIdCharacters),
  algorithm: text(32),
  scheme: text(32),
  status: oneOf(keyStatuses),
  /** The newest generation: the active one of an active key. */
  generation: uint,
  /** How many certified changes have made it what it is. */
  revision: uint,
  assetOwner: nullable(text(Limits.authorityIdCharacters)),
  createdAt: uint,
  updatedAt: uint,
});
export type Key = TypeOf<typeof keyCodec>;

export const generationCodec = record({
  keyId: text(Limits.keyIdCharacters),
  generation: uint,
  state: oneOf(generationStates),
  madeBy: oneOf(makings),
  /** As verifiers know it, hexadecimal. */
  publicKey: text(2 * Limits.publicKeyBytes),
  group: groupCodec,
  /** Ids of the authorities attached to it. */
  authorities: list(text(Limits.authorityIdCharacters), Limits.authoritiesOfKey),
  /** The digest of what is agreed about it, which approvers sign. */
  record: digest,
  /** The digest of everything that was said while it was made. */
  transcript: digest,
  createdAt: uint,
  destroyedAt: nullable(uint),
});
export type Generation = TypeOf<typeof generationCodec>;
