/** The command that destroys a generation of a key, or the whole key: every member erases its share (contract 10.7). */
import { Either } from "effect";
import { record, type TypeOf } from "../../codec/Codec.ts";
import { coded } from "../../codec/Coded.ts";
import { formsOf, kept } from "../../codec/Versioned.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { Command, EffectsAt, Standing } from "../../protocol/Command.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { underWay } from "../../protocol/UnderWay.ts";
import { custodyOwner } from "../keys/KeyId.ts";
import { generationNow } from "../keys/GenerationState.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import { type Generation, generationCodec, type Key, keyCodec } from "../keys/KeyRecord.ts";
import { generationMoved, keyDestroyed, keyNotFound } from "../keys/KeyRefusals.ts";
import { applyDestruction, installDestruction, undoDestruction } from "../keys/KeyRows.ts";
import { generationKey, keyRows, KEYS_SINCE } from "../keys/Tables.ts";
import { endMakings } from "../makeKey/KeygenEnd.ts";
import {
  DESTROY,
  type Destruction,
  destructionOf,
  destructionPermissions,
  isDestruction,
  namedBy,
} from "./Destruction.ts";

/** The key from now on, and the generation as it is destroyed. */
const effectsCodec = kept(formsOf(record({ key: keyCodec, generation: generationCodec }), KEYS_SINCE));
export type DestroyKeyEffects = TypeOf<typeof effectsCodec>;
export const destroyKeyEffects = coded(effectsCodec);

const noSuchGeneration = rejection(
  "GENERATION_NOT_FOUND",
  "The key has no such generation.",
  "Read the key; generations are numbered from 1.",
);

const inUse = rejection(
  "GENERATION_IN_USE",
  "The active generation cannot be destroyed by itself.",
  "Rotate the key first; or destroy the whole key, with final.",
);

const rowsOf = (view: RowView, { keyId, generation }: Pick<Destruction, "keyId" | "generation">) => {
  const rows = keyRows(view);
  return { key: rows.get("custodyKeys", keyId), target: rows.get("generations", generationKey(keyId, generation)) };
};

/** Whether what was asked for is destroyed already, in that way. */
const isDone = (view: RowView, destruction: Destruction): boolean => {
  const { key, target } = rowsOf(view, destruction);
  if (key === undefined || target?.state !== "DESTROYED") return false;
  return destruction.isFinal ? key.status === "DESTROYED" : destruction.generation < key.generation;
};

/** Why it cannot be; a key that is destroyed, and a generation that is passed, stay so. */
const hindrance = (
  key: Key,
  target: Generation | undefined,
  { base, generation, isFinal }: Destruction,
): readonly [Rejection, isFinal: boolean] | undefined => {
  if (key.status === "DESTROYED") return [keyDestroyed, true];
  if (key.generation !== base) return [generationMoved, base < key.generation];
  if (target === undefined) return [noSuchGeneration, false];
  return generation === base && !isFinal ? [inUse, false] : undefined;
};

const effectsAt =
  (key: Key, target: Generation, { isFinal }: Destruction): EffectsAt =>
  ({ proposedAt, version }) => {
    const at = Math.max(proposedAt, key.updatedAt);
    return destroyKeyEffects.encode({
      version: Math.max(version, KEYS_SINCE),
      key: { ...key, status: isFinal ? "DESTROYED" : key.status, revision: key.revision + 1, updatedAt: at },
      generation: { ...target, state: "DESTROYED", destroyedAt: at },
    });
  };

const standing = (view: RowView, destruction: Destruction): Standing => {
  if (isDone(view, destruction)) return { _tag: "Done", name: destruction.ref };
  const { key, target } = rowsOf(view, destruction);
  if (key === undefined) return { _tag: "Impossible", rejection: keyNotFound, isFinal: false };
  const [refusal, isFinal = false] = hindrance(key, target, destruction) ?? [];
  if (refusal !== undefined || target === undefined)
    return { _tag: "Impossible", rejection: refusal ?? noSuchGeneration, isFinal };
  return { _tag: "Possible", effectsAt: effectsAt(key, target, destruction) };
};

export const destroyKey: Command<Destruction, Destruction> = {
  kind: DESTROY,
  since: KEYS_SINCE,
  permissionsOf: destructionPermissions,
  needsRows: false,
  retry: { _tag: "FindsItsResult" },
  speaking: [
    "INVALID_REQUEST_BODY",
    "KEY_NOT_FOUND",
    "KEY_DESTROYED",
    "GENERATION_MOVED",
    "GENERATION_NOT_FOUND",
    "GENERATION_IN_USE",
  ],
  recognizes: isDestruction,
  targetOf: (_means, call) => Either.getOrUndefined(destructionOf(call)),
  parse: (_evaluation, call) => destructionOf(call),
  admit: (_step, call) => destructionOf(call),

  check: ({ context }, destruction) => standing(context.view, destruction),
  // A request like it waits for the outcome, and finds it.
  coalescesWith: () => undefined,
  heldUpBy: (state, destruction) => {
    if (!state.undecided.locks.has(generationLock(destruction.keyId))) return undefined;
    return isUnderWay(state, destruction) ? "own result" : "another change";
  },

  locksOf: (effects) => [generationLock(destroyKeyEffects.certified(effects).key.keyId)],
  lineageOf: (effects) => {
    const { keyId, revision } = destroyKeyEffects.certified(effects).key;
    // It claims nothing but what is the key's own.
    return { ref: keyId, revision, claim: custodyOwner(keyId), owner: custodyOwner(keyId) };
  },
  isSound: (_crypto, effects) => {
    const destroyed = destroyKeyEffects.decode(effects);
    return (
      destroyed !== undefined &&
      destroyed.generation.keyId === destroyed.key.keyId &&
      destroyed.generation.state === "DESTROYED" &&
      (destroyed.key.status === "DESTROYED") === (destroyed.generation.generation === destroyed.key.generation)
    );
  },
  apply: (step, _id, effects) => {
    const destroyed = destroyKeyEffects.certified(effects);
    applyDestruction(step, destroyed);
    if (destroyed.key.status === "DESTROYED") endMakings(step, destroyed.key.keyId);
  },
  install: (step, _id, effects) => installDestruction(step, destroyKeyEffects.certified(effects)),
  undo: (step, _id, effects) => undoDestruction(step, destroyKeyEffects.certified(effects)),
  audit: (effects) => {
    const { keyId, generation } = destroyKeyEffects.certified(effects).generation;
    return { event: "GENERATION_DESTROYED", keyId, generation };
  },

  // Met only by the request's own proposal; a request like it finds the result stored.
  isMetBy: (_destruction, _effects, isOwn) => isOwn,
  mayBeThere: isDone,
  confirmed: (effects) => {
    const { key, generation } = destroyKeyEffects.certified(effects);
    return { _tag: "KeyDestroyed", key, generation };
  },
  existing: (view, ref) => {
    const { key, target } = rowsOf(view, namedBy(ref));
    if (key === undefined || target === undefined) return undefined;
    const generation = generationNow(key, target);
    return generation.state === "DESTROYED"
      ? { revision: key.revision, answer: { _tag: "KeyDestroyed", key, generation } }
      : undefined;
  },
  mayStand: (step, destruction, entryPeer) =>
    isUnderWay(step.state, destruction) || (entryPeer !== step.self && isDone(step.view, destruction)),
  named: (_step, target) => target,
  noteRefused: () => undefined,
  reservedFor: () => undefined,
};

/** Whether the change under way of the same key does what was asked for. */
const isUnderWay = (state: Parameters<typeof underWay>[0], { keyId, generation, isFinal }: Destruction): boolean => {
  const open = underWay(state, generationLock(keyId));
  if (open?.kind !== DESTROY) return false;
  const effects = destroyKeyEffects.certified(open.effects);
  return effects.generation.generation === generation && (effects.key.status === "DESTROYED") === isFinal;
};
