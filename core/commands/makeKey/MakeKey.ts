/** The command that makes a key, or its next generation, of what all members have made for the request (contract 7). */
import { Either } from "effect";
import type { Command } from "../../protocol/Command.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import { underWay } from "../../protocol/UnderWay.ts";
import { keyLock } from "../approvers/Locks.ts";
import { custodyOwner } from "../keys/KeyId.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import type { Making as Way } from "../keys/KeyRecord.ts";
import { applyGeneration, installGeneration, undoGeneration } from "../keys/KeyRows.ts";
import { KEYS_SINCE, generationKey, keyRows } from "../keys/Tables.ts";
import { keygenEffects } from "./KeygenEffects.ts";
import { isMaking, KEYGEN, type Making, madeUnder, makingOf, makingPermissions } from "./Making.ts";
import { baseOf, isMade, knownStanding, readMaking } from "./MakingStanding.ts";
import { noteRefreshed } from "./OldShares.ts";
import { forgetMark } from "./PendingRows.ts";

const events: { readonly [W in Way]: string } = {
  CREATE: "KEY_CREATED",
  ROTATE: "KEY_ROTATED",
  REFRESH: "KEY_REFRESHED",
};

/** Whether the change under way of the same key is the result of this very request. */
const isUnderWay = (state: PeerState, { keyId, requestDigest }: Making): boolean => {
  const open = underWay(state, generationLock(keyId));
  return open?.kind === KEYGEN && keygenEffects.certified(open.effects).requestDigest === requestDigest;
};

export const makeKey: Command<Making, Making> = {
  kind: KEYGEN,
  since: KEYS_SINCE,
  permissionsOf: makingPermissions,
  needsRows: false,
  retry: { _tag: "FindsItsResult" },
  speaking: [
    "INVALID_REQUEST_BODY",
    "UNSUPPORTED_ALGORITHM",
    "SCHEME_NOT_THRESHOLD",
    "KEY_NOT_FOUND",
    "KEY_ALREADY_EXISTS",
    "KEY_DESTROYED",
    "GENERATION_MOVED",
    "KEY_ALREADY_REGISTERED",
  ],
  recognizes: isMaking,
  targetOf: ({ crypto }, call) => Either.getOrUndefined(makingOf(call, crypto)),
  parse: ({ context, membership }, call) => readMaking({ context, membership }, call),
  admit: ({ context, membership }, call) => readMaking({ context, membership }, call),

  check: knownStanding,
  // A request like it waits for the outcome, and finds it.
  coalescesWith: () => undefined,
  heldUpBy: (state, making) => {
    if (!state.undecided.locks.has(generationLock(making.keyId))) return undefined;
    return isUnderWay(state, making) ? "own result" : "another change";
  },

  locksOf: (effects) => {
    const { key, keyIdentity } = keygenEffects.certified(effects);
    return [generationLock(key.keyId), keyLock(keyIdentity)];
  },
  lineageOf: (effects) => {
    const { key, keyIdentity } = keygenEffects.certified(effects);
    return { ref: key.keyId, revision: key.revision, claim: keyIdentity, owner: custodyOwner(key.keyId) };
  },
  isSound: (_crypto, effects) => {
    const made = keygenEffects.decode(effects);
    return (
      made !== undefined &&
      made.generation.keyId === made.key.keyId &&
      made.generation.generation === made.key.generation &&
      (made.generation.madeBy === "CREATE") === (made.generation.generation === 1)
    );
  },
  apply: (step, id, effects) => {
    const made = keygenEffects.certified(effects);
    applyGeneration(step, made);
    noteRefreshed(step, id, effects);
    forgetMark(step, generationKey(made.key.keyId, made.key.generation));
  },
  install: (step, _id, effects) => installGeneration(step, keygenEffects.certified(effects)),
  undo: (step, _id, effects) => undoGeneration(step, keygenEffects.certified(effects)),
  audit: (effects) => {
    const { generation } = keygenEffects.certified(effects);
    return { event: events[generation.madeBy], keyId: generation.keyId, generation: generation.generation };
  },

  // Met only by the request's own proposal; a request like it finds the result stored.
  isMetBy: (_making, _effects, isOwn) => isOwn,
  mayBeThere: isMade,
  confirmed: (effects, isFresh) => {
    const { key, generation } = keygenEffects.certified(effects);
    return { _tag: "KeyMade", created: isFresh, key, generation };
  },
  existing: (view, ref, isOwn) => {
    const { keyId, generation: number } = madeUnder(ref);
    const { key, generation: newest } = baseOf(view, { keyId });
    const generation = number === undefined ? newest : keyRows(view).get("generations", generationKey(keyId, number));
    // Told late, a key that has been renewed since is no longer as this request made it.
    const created = isOwn && key?.generation === (number ?? 1);
    return key && generation && { revision: key.revision, answer: { _tag: "KeyMade", created, key, generation } };
  },
  mayStand: (step, making, entryPeer) =>
    isUnderWay(step.state, making) || (entryPeer !== step.self && isMade(step.view, making)),
  named: (_step, target) => target,
  noteRefused: () => undefined,
  reservedFor: () => undefined,
};
