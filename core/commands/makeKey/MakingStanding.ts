/** How a request that makes a generation stands against one peer's rows. */
import { Either } from "effect";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { Standing } from "../../protocol/Command.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { Step } from "../../protocol/Step.ts";
import type { RowView } from "../../protocol/Tables.ts";
import type { Suite } from "../../threshold/Suite.ts";
import { keyLock } from "../approvers/Locks.ts";
import { approverRows } from "../approvers/Tables.ts";
import { custodyIdentity } from "../keys/CustodyIdentity.ts";
import { custodyOwner } from "../keys/KeyId.ts";
import { generationLock } from "../keys/KeyLocks.ts";
import { generationMoved, keyDestroyed, keyNotFound } from "../keys/KeyRefusals.ts";
import { suiteFor } from "../keys/Suites.ts";
import { generationKey, type KeyRows, keyRows, keyTables } from "../keys/Tables.ts";
import { type Base, keygenEffectsAt } from "./KeygenEffects.ts";
import { type Making, makingOf } from "./Making.ts";
import { type Judged, makings } from "./MakingState.ts";

const exists = rejection(
  "KEY_ALREADY_EXISTS",
  "A key of this id was made otherwise.",
  "Read the key, or choose another id.",
);

const used = rejection("GENERATION_MOVED", "The key has as many generations as it may.", "Create another key.");

const owned = rejection(
  "KEY_ALREADY_REGISTERED",
  "The public key that was made is an approver's, or about to become one.",
  "Repeat the request; another key is made.",
);

export const baseOf = (view: RowView, { keyId }: Pick<Making, "keyId">): Base => {
  const rows = keyRows(view);
  const key = rows.get("custodyKeys", keyId);
  return { key, generation: key && rows.get("generations", generationKey(keyId, key.generation)) };
};

const isSameList = (asked: ReadonlyArray<string> | undefined, has: ReadonlyArray<string>): boolean =>
  asked === undefined || (asked.length === has.length && asked.every((each, index) => each === has[index]));

/** Whose the key is by a request: what leaves it out means nobody for a new key, and whoever has it where a renewal may have said so. */
const ownerIn = ({ assetOwner, madeBy }: Making, key: Base["key"]): string | undefined =>
  assetOwner ?? (madeBy === "CREATE" && key?.generation === 1 ? undefined : key?.assetOwner);

/** Whether the key has what was asked for; what a renewal leaves out may be anything. */
const fits = (making: Making, { key, generation }: Base): boolean =>
  generation !== undefined &&
  generation.madeBy === making.madeBy &&
  isSameList(making.authorities, generation.authorities) &&
  ownerIn(making, key) === key?.assetOwner;

/** Whether the result of this request, or of one like it, is stored. */
export const isMade = (view: RowView, making: Making): boolean => {
  const { key } = baseOf(view, making);
  if (key?.status !== "ACTIVE") return false;
  const generation = keyRows(view).get("generations", generationKey(making.keyId, making.base + 1));
  // However many came after it: who asks again would else make another one beside the one that was made for the request.
  // Whose the key is today says nothing of what a renewal before the last one was asked for.
  if (making.madeBy !== "CREATE")
    return (making.assetOwner === undefined || key.generation === making.base + 1) && fits(making, { key, generation });
  return (
    key.algorithm === making.algorithm &&
    key.scheme === (making.scheme ?? key.scheme) &&
    fits(making, { key, generation })
  );
};

/** Why it cannot be done whatever is made for it; undefined where that is open. */
const hindrance = (view: RowView, making: Making): Extract<Standing, { readonly _tag: "Impossible" }> | undefined => {
  const { base, madeBy } = making;
  const { key } = baseOf(view, making);
  const impossible = (found: Rejection, isFinal = true) => ({ _tag: "Impossible" as const, rejection: found, isFinal });
  if (key?.status === "DESTROYED") return impossible(keyDestroyed);
  if (madeBy === "CREATE") return key === undefined ? undefined : impossible(exists);
  if (key === undefined) return impossible(keyNotFound, false);
  // Generations never go back, so a superseded one never comes again.
  if (key.generation !== base) return impossible(generationMoved, base < key.generation);
  return base >= Limits.generations ? impossible(used) : undefined;
};

/** The suite of the key that the request is about. */
export const suiteOfMaking = (
  { context, membership }: Pick<EvaluationContext, "context" | "membership">,
  making: Making,
): Either.Either<Suite, Rejection> => {
  const { key } = making.madeBy === "CREATE" ? { key: undefined } : baseOf(context.view, making);
  const { algorithm = "", scheme } = key ?? making;
  return suiteFor(context.keyCrypto, algorithm, scheme, membership.peerIds.length);
};

const noArbitrary = rejection(
  "INVALID_REQUEST_BODY",
  "This cluster has no authority that can be attached.",
  "Allow the authority arbitrary in the configuration of every peer.",
  { faults: [{ pointer: "/authorities/0/id", code: "invalid_value", detail: "The authority is not enabled here." }] },
);

/** The request, as far as it can be done in this cluster at all; a new key's scheme is known from here on. */
export const readMaking = (
  evaluation: Pick<EvaluationContext, "context" | "membership">,
  call: Call,
): Either.Either<Making, Rejection> =>
  Either.flatMap(makingOf(call, evaluation.context.crypto), (making) => {
    if (making.authorities !== undefined && !evaluation.context.settings.arbitrary) return Either.left(noArbitrary);
    return making.madeBy === "CREATE"
      ? Either.map(suiteOfMaking(evaluation, making), ({ scheme }) => ({ ...making, scheme }))
      : Either.right(making);
  });

/** What this peer has made for the request; not what goes, or is replaced, in this very step. */
const pendingFor = (evaluation: EvaluationContext, making: Making): KeyRows["pending"] | undefined => {
  const key = generationKey(making.keyId, making.base + 1);
  const row = keyRows(evaluation.context.view).get("pending", key);
  const isKept = row !== undefined && evaluation.slice(makings).pending.get(key)?.sessionId === row.sessionId;
  return isKept && row.requestDigest === making.requestDigest && evaluation.isCurrent(row.incarnations)
    ? row
    : undefined;
};

/** Done, impossible, not yet made by this peer, or possible with what it has made. */
export const standing = (evaluation: EvaluationContext, making: Making): Standing => {
  const { context, membership } = evaluation;
  const { view, crypto } = context;
  if (isMade(view, making)) return { _tag: "Done", name: making.ref };
  const found = hindrance(view, making);
  if (found !== undefined) return found;
  const suite = suiteOfMaking(evaluation, making);
  if (Either.isLeft(suite)) return { _tag: "Impossible", rejection: suite.left, isFinal: false };
  const pending = pendingFor(evaluation, making);
  if (pending === undefined) return { _tag: "NotYet" };
  const identity = custodyIdentity(crypto, suite.right, pending);
  const owner = approverRows(view).get("keys", identity);
  const isOthers = owner !== undefined && owner.id !== custodyOwner(making.keyId);
  if (isOthers || evaluation.isLocked(keyLock(identity)))
    return { _tag: "Impossible", rejection: owned, isFinal: false };
  const base = baseOf(view, making);
  return {
    _tag: "Possible",
    effectsAt: keygenEffectsAt(crypto, membership.topology, making, suite.right, base, pending, identity),
  };
};

const isMarked = (evaluation: EvaluationContext, { keyId, base }: Making): boolean =>
  evaluation.slice(makings).pending.has(generationKey(keyId, base + 1));

/** The same; of a request in the writer's queue without a look at its rows where {@link judge} knows what they say. */
export const knownStanding = (evaluation: EvaluationContext, making: Making): Standing => {
  const known = isMarked(evaluation, making) ? undefined : evaluation.slice(makings).judged.get(making.requestDigest);
  return known?.standing ?? standing(evaluation, making);
};

/** Whether this very step changes the key or one of its generations: its rows are not those that are read yet. */
export const isChanging = (step: Step, { keyId }: Pick<Making, "keyId">): boolean =>
  step.rows(keyTables).isChanged("custodyKeys", keyId);

/**
 * Looks once at the rows of every request in the writer's queue, and again when they have changed: hundreds may wait for
 * a session, and all are gone through at every event. What is known of requests that have left the queue goes when
 * another comes: it does no harm, and an event that means nothing here changes nothing.
 */
export const judge = (step: Step, queued: ReadonlyArray<{ readonly intent: Making }>): void => {
  for (const [requestDigest, known] of step.slice(makings).judged)
    if (isChanging(step, known)) step.editIn(makings, "judged").delete(requestDigest);
  const found = queued.flatMap(({ intent }) => judgedNow(step, intent));
  if (found.length === 0) return;
  const judged = step.editIn(makings, "judged");
  const inQueue = new Set(queued.map(({ intent }) => intent.requestDigest));
  for (const requestDigest of judged.keys()) if (!inQueue.has(requestDigest)) judged.delete(requestDigest);
  for (const [requestDigest, known] of found) judged.set(requestDigest, known);
};

/** What is new of a request; none where it is known, or about to change. */
const judgedNow = (step: Step, making: Making): ReadonlyArray<readonly [Digest, Judged]> => {
  const { keyId, requestDigest } = making;
  if (step.slice(makings).judged.has(requestDigest) || isMarked(step, making)) return [];
  if (isChanging(step, making) || step.isLocked(generationLock(keyId))) return [];
  const stands = standing(step, making);
  return stands._tag === "Possible" ? [] : [[requestDigest, { keyId, standing: stands }]];
};

/** At a peer that takes no part, or is not the writer, rows may change in other ways. */
export const forgetJudged = (step: Step): void => {
  if (step.slice(makings).judged.size > 0) step.editIn(makings, "judged").clear();
};
