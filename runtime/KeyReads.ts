/** Reads of keys: committed rows, and whether this peer's own share is there. They wait for nobody and write nothing. */
import { Either } from "effect";
import { type Rejection, rejection } from "../core/base/Rejection.ts";
import { generationNow } from "../core/commands/keys/GenerationState.ts";
import { heldShare, isSolo, wholeAt } from "../core/commands/keys/HeldShare.ts";
import { isKeyId } from "../core/commands/keys/KeyId.ts";
import { keyNotFound } from "../core/commands/keys/KeyRefusals.ts";
import type { Generation, Key } from "../core/commands/keys/KeyRecord.ts";
import { generationKey, keyRows } from "../core/commands/keys/Tables.ts";
import type { CatalogPorts } from "./IdentityCatalog.ts";
import { damaged, guarded, readRefusal } from "./Reads.ts";

/** This peer's own: `SHARE_MISSING` where the generation signs, or could again, and not with this peer's share. */
export type Health = "OK" | "SHARE_MISSING";

/** A generation of a key, the newest where no other is asked for, as it is now. */
export interface ReadKey {
  readonly key: Key;
  readonly generation: Generation;
  readonly health: Health;
}

const noSuchGeneration = rejection(
  "GENERATION_NOT_FOUND",
  "The key has no such generation.",
  "Read the key: it names its newest one, and generations are numbered from 1.",
);

/** Whether this peer has its share of a generation. Throws where a row does not hold. */
const healthOf = (ports: CatalogPorts, { state, ...generation }: Generation): Health => {
  const { membership, peer } = ports.state.cluster;
  const isNeeded = state === "ACTIVE" || state === "HISTORICAL";
  if (!isNeeded || membership === undefined || peer === undefined) return "OK";
  // Whole since before a promotion, it is at the one peer that had it then, and nobody else has a part of it.
  if (isSolo(generation) && wholeAt(membership) !== peer.peerId) return "OK";
  const share = heldShare(ports, membership, peer.peerId, { state, ...generation });
  share?.wipe();
  return share === undefined ? "SHARE_MISSING" : "OK";
};

/** A key and a generation that were read or made just now, with this peer's health. Throws where a row does not hold. */
export const shownKey = (ports: CatalogPorts, key: Key, stored: Generation): ReadKey => {
  const generation = generationNow(key, stored);
  return { key, generation, health: healthOf(ports, generation) };
};

/**
 * One key by its id, with its newest generation or the one of this number.
 *
 * Left: whatever {@link readRefusal} says, 404 `KEY_NOT_FOUND` and `GENERATION_NOT_FOUND`, and `INTEGRITY_FAILURE` where a
 * row does not hold, or may be lost. A store that cannot be read throws.
 */
export const readKey = (ports: CatalogPorts, keyId: string, number?: number): Either.Either<ReadKey, Rejection> => {
  const refusal = readRefusal(ports.state);
  if (refusal !== undefined) return Either.left(refusal);
  // Where rows are known to be lost, one that is not there may be one of them.
  const missing = (what: Rejection) => Either.left(ports.state.fitness.integrityFault === undefined ? what : damaged);
  return guarded(ports, () => {
    const rows = keyRows(ports.view);
    const key = isKeyId(keyId) ? rows.get("custodyKeys", keyId) : undefined;
    if (key === undefined) return missing(keyNotFound);
    const generation = rows.get("generations", generationKey(keyId, number ?? key.generation));
    return generation === undefined ? missing(noSuchGeneration) : Either.right(shownKey(ports, key, generation));
  });
};
