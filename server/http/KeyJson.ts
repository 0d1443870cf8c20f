/** A key as callers see it: but for the health the same bytes from every peer. */
import type { Rows } from "../../core/Tables.ts";
import { type KeyCrypto, suiteOf } from "../../core/threshold/Suite.ts";
import type { ReadKey } from "../../runtime/KeyReads.ts";

const base64OfHex = (hex: string): string => Buffer.from(hex, "hex").toString("base64");

/** The public key of a generation in both its forms. */
export const publicKeyFields = (
  keyCrypto: KeyCrypto,
  { algorithm, scheme }: Pick<Rows["custodyKeys"], "algorithm" | "scheme">,
  { publicKey }: Pick<Rows["generations"], "publicKey">,
) => {
  const spki = suiteOf(keyCrypto, algorithm, scheme)?.spki(publicKey);
  return {
    publicKey64: base64OfHex(publicKey),
    ...(spki === undefined ? {} : { spki64: Buffer.from(spki).toString("base64") }),
  };
};

/** Where a key is not shared, one of one has it. */
const holdersOf = ({ group }: Rows["generations"]): number => Math.max(group.verifyingShares.length, 1);

/** The record; timestamps are Unix milliseconds, and what there is not is left out. */
export const keyJson = (keyCrypto: KeyCrypto, { key, generation, health }: ReadKey) => {
  const { keyId, status, algorithm, scheme, assetOwner, createdAt, updatedAt } = key;
  const { state, madeBy, authorities, record, transcript, destroyedAt } = generation;
  return {
    keyId,
    status,
    algorithm,
    scheme,
    currentGeneration: key.generation,
    ...(assetOwner === undefined ? {} : { assetOwner }),
    createdAt,
    updatedAt,
    threshold: Math.max(generation.group.threshold, 1),
    total: holdersOf(generation),
    health,
    generation: {
      generation: generation.generation,
      state,
      madeBy,
      ...publicKeyFields(keyCrypto, key, generation),
      authorities: authorities.map((id) => ({ id })),
      record: `sha256:${record}`,
      transcript: `sha256:${transcript}`,
      createdAt: generation.createdAt,
      ...(destroyedAt === undefined ? {} : { destroyedAt }),
    },
  };
};

/**
 * A strong entity tag: the digest of what is agreed about the generation, and all that changes beside it.
 */
export const keyTag = ({ key, generation, health }: ReadKey): string =>
  `"${generation.record}.${key.revision}.${generation.state.toLowerCase()}.${health.toLowerCase().replaceAll("_", "-")}"`;
