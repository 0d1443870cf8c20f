/**
 * A member as one of the helpers of a repair: it splits its weighted share among all helpers and tells the target only
 * the sum of what all have told it (Stinson and Wei 2018, 2.2). Each session splits anew, so that sessions with
 * different helpers have no equation in common.
 */
import { Either } from "effect";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { authorize } from "../../auth/Authorization.ts";
import { copyOfSet, withEntry } from "../../base/Copies.ts";
import type { Digest } from "../../base/Digest.ts";
import { Limits } from "../../base/Limits.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import { type BoxKey, suiteOf } from "../../threshold/Suite.ts";
import type { SecretsFor } from "../../threshold/ThresholdScheme.ts";
import { heldShare, isSolo, shareIndexOf } from "../keys/HeldShare.ts";
import { keyIdIn, REPAIR_PERMISSION } from "../keys/KeyId.ts";
import type { Generation, Key } from "../keys/KeyRecord.ts";
import { generationKey, KEYS_SINCE, keyRows, keyTables } from "../keys/Tables.ts";
import { repairMessages, type RepairMessage, type RepairMessageOf, type Wanted } from "./RepairMessages.ts";
import { isRepair, readHelpers } from "./RepairRequest.ts";
import { type Helping, repairs } from "./RepairState.ts";
import { openedFrom, type Route, sealedFor } from "./Secrets.ts";

export const HELPING_TIMER = "Repair.helping";
const HELPING_MILLIS = 1_000;
/** A target asks again after 250 ms; who asks sooner was told all of it just now. */
const SAID_AGAIN_MILLIS = 100;

/**
 * How many earlier sessions of a target are remembered while one is under way. A target asks again after 250 ms, so that
 * a copy comes late by no more of them than a repair goes through in about that time.
 */
const BEFORE_KEPT = 64;

/**
 * What a helper does for one target: so many secrets at once, of a share for each helper, and one more after each
 * interval. Each is two boxes or three, of some milliseconds, so that a target that begins session after session takes a
 * part of a helper's time, and an operator's repairs of many keys hardly wait. A session costs little until another
 * helper has answered, as most that come to nothing do not come so far; and never more than a part of all, or the next
 * could wait longer than its caller does.
 */
const SECRETS_AT_ONCE = 1_024;
const SECRETS_OF_SESSION = 256;
const SECRET_MILLIS = 16;
/** To open a session costs one part in so many of the rest: a key, and the shares split. */
const COST_OF_OPENING = 8;

const OPEN_TAG = "CUSTODY_REPAIR_OPEN_V1";

type Open = RepairMessageOf<"Repair.Open">;

/** Why a member does not help, as a code. */
type Refusal = string;

/** The registry root, as in `Ready`. */
export const rootOf = ({ state, context: { crypto } }: Step): Digest => crypto.setDigest(state.registry.set);

/** One cutoff: nothing is under way here that could change what is repaired. */
export const isIdle = ({ state: { undecided } }: Step): boolean => undecided.preparations.size === 0;

const judge = (
  step: Step,
  target: PeerId,
  open: Open,
  actor: ActorCheck,
): Either.Either<Omit<Helping, "before">, Refusal> => {
  const { context, membership, self } = step;
  const { sessionId, evidence, generations, boxKey, registryRoot } = open;
  const authorized = authorize(context, actor, [REPAIR_PERMISSION]);
  if (Either.isLeft(authorized)) return Either.left(authorized.left.code);
  const keyId = keyIdIn(evidence.path, "repair");
  if (keyId === undefined || !isRepair({ method: "POST", path: evidence.path })) return Either.left("WRONG_REQUEST");
  const read = readHelpers(membership, target, evidence.rawBody);
  if (Either.isLeft(read)) return Either.left(read.left.code);
  const helpers = read.right;
  if (!helpers.includes(self) || !isAscending(generations)) return Either.left("WRONG_REQUEST");
  if (!isIdle(step)) return Either.left("UNDECIDED");
  if (registryRoot !== rootOf(step)) return Either.left("REGISTRY_DIFFERS");
  pay(step, target, Math.ceil(costOf(step, open) / COST_OF_OPENING));
  const boxSeed = new Secret(context.crypto.derive(context.entropy, `repair box ${target} ${sessionId}`));
  const parts: Array<SecretsFor> = [];
  for (const wanted of generations) {
    const split = partsOf(step, target, helpers, sessionId, keyId, wanted);
    if (Either.isLeft(split)) return Either.left(split.left);
    parts.push(split.right);
  }
  return Either.right({
    target,
    sessionId,
    asked: askedOf(step, open),
    openedAt: step.elapsed,
    keyId,
    generations,
    helpers,
    // The type is the encoding; what is none opens nothing.
    targetKey: boxKey as BoxKey,
    boxSeed,
    parts,
    keys: new Map(),
    received: new Map(),
    broken: new Set(),
    words: [],
    saidAt: step.elapsed,
  });
};

/** What a session costs a helper, in secrets. */
const costOf = (step: Step, { generations }: Pick<Open, "generations">): number =>
  Math.min((1 + generations.length) * step.membership.topology.threshold, SECRETS_OF_SESSION);

/** Until when what is done for a target is not made up for, with so much more. */
const paidUntil = (step: Step, target: PeerId, secrets: number): number =>
  Math.max(step.elapsed, step.slice(repairs).pace.get(target) ?? 0) + secrets * SECRET_MILLIS;

const pay = (step: Step, target: PeerId, secrets: number): void =>
  void step.editIn(repairs, "pace").set(target, paidUntil(step, target, secrets));

/** Whether a target has had so much that it is to wait: whoever is told nothing asks again. */
const isToWait = (step: Step, target: PeerId, open: Open): boolean =>
  paidUntil(step, target, costOf(step, open)) - step.elapsed > SECRETS_AT_ONCE * SECRET_MILLIS;

/** Each generation once: named again and again, one would cost a helper as many boxes as there may be generations. */
const isAscending = (generations: ReadonlyArray<Wanted>): boolean =>
  generations.every((each, at) => at === 0 || (generations[at - 1]?.generation ?? 0) < each.generation);

/** All that a target asks; it asks every helper the same. */
export const askedOf = ({ context: { crypto } }: Step, open: Open): Digest =>
  crypto.digest(OPEN_TAG, repairMessages["Repair.Open"].at(KEYS_SINCE), open);

/** What each helper is told of this peer's share of one generation. */
const partsOf = (
  step: Step,
  target: PeerId,
  helpers: ReadonlyArray<PeerId>,
  sessionId: Digest,
  keyId: string,
  wanted: Wanted,
): Either.Either<SecretsFor, Refusal> => {
  const { context, membership, self } = step;
  const here = wantedHere(step, keyId, wanted);
  if (here === undefined) return Either.left("GENERATION_DIFFERS");
  const { key, generation } = here;
  // What is whole here has no share to repair, and may be no scalar at all.
  if (isSolo(generation)) return Either.left("KEY_UNSHARED");
  const scheme = suiteOf(context.keyCrypto, key.algorithm, key.scheme)?.shared;
  const [index, to] = [shareIndexOf(membership, self), shareIndexOf(membership, target)];
  const secret = heldShare(context, membership, self, generation);
  if (scheme === undefined || secret === undefined || index === undefined || to === undefined)
    return Either.left("SHARE_MISSING");
  const seed = new Secret(
    context.crypto.derive(context.entropy, `repair ${target} ${sessionId} ${keyId} ${wanted.generation}`),
  );
  const indexes = helpers.flatMap((each) => shareIndexOf(membership, each) ?? []);
  const parts = scheme.repairParts(seed, { index, secret }, indexes, to);
  secret.wipe();
  return Either.right(parts);
};

/** Whether members keep their shares of a generation, unless its key is destroyed. */
export const isKept = ({ state }: { readonly state: string }): boolean => state === "ACTIVE" || state === "HISTORICAL";

/** What a repair is about, as this step leaves it; undefined once members keep no shares of it. */
export const wantedHere = (
  step: Step,
  keyId: string,
  { generation: no, transcript }: Wanted,
): { readonly key: Key; readonly generation: Generation } | undefined => {
  const rows = step.rows(keyTables);
  const key = rows.current("custodyKeys", keyId);
  const generation = rows.current("generations", generationKey(keyId, no));
  return key?.status === "ACTIVE" && generation?.transcript === transcript && isKept(generation)
    ? { key, generation }
    : undefined;
};

const keep = (step: Step, helping: Helping): Helping => {
  step.editIn(repairs, "helping").set(helping.target, helping);
  return helping;
};

const refuse = (step: Step, to: PeerId, sessionId: Digest, code: Refusal): void => {
  const refused: RepairMessage = { _tag: "Repair.Refused", sessionId, code };
  step.sendFlushed(refused, [to]);
};

/** A target asks for help, or asks again. */
export const onOpen = (step: Step, from: PeerId, open: Open, actors: ReadonlyArray<ActorCheck>): void => {
  if (step.mode !== "active") return refuse(step, from, open.sessionId, "NOT_ACTIVE");
  const known = step.slice(repairs).helping.get(from);
  if (known?.sessionId === open.sessionId) {
    if (known.asked !== askedOf(step, open)) return refuse(step, from, open.sessionId, "SESSION_TAKEN");
    return sayAgain(step, known);
  }
  // Begun again it would take the place of the present one, of which this peer has told others its only key.
  if (known?.before.includes(open.sessionId) === true) return refuse(step, from, open.sessionId, "SESSION_ENDED");
  if (isToWait(step, from, open)) return;
  const judged = judge(step, from, open, actors[0] ?? { _tag: "Unavailable" });
  if (Either.isLeft(judged)) return refuse(step, from, open.sessionId, judged.left);
  // An earlier session of this target ends: it may begin anew, with other splits.
  const before = known === undefined ? [] : [...known.before, known.sessionId].slice(-BEFORE_KEPT);
  tellKey(step, keep(step, { ...judged.right, before }));
};

const tellKey = (step: Step, helping: Helping): void => {
  const boxKey = step.context.keyCrypto.boxes.keyOf(helping.boxSeed);
  const key: RepairMessage = { _tag: "Repair.Key", sessionId: helping.sessionId, boxKey };
  step.sendFlushed(
    key,
    helping.helpers.filter((each) => each !== step.self && !helping.keys.has(each)),
  );
};

/** Says again whatever others may still lack: what is sealed costs nothing more, however often a target asks. */
const sayAgain = (step: Step, helping: Helping): void => {
  if (step.elapsed - helping.saidAt < SAID_AGAIN_MILLIS) return;
  keep(step, { ...helping, saidAt: step.elapsed });
  tellKey(step, helping);
  for (const { to, message } of helping.words) step.sendFlushed(message, [to]);
};

/** Says it, and keeps it to be said again. */
const tell = (step: Step, helping: Helping, to: PeerId, message: RepairMessage): Helping => {
  step.sendFlushed(message, [to]);
  return keep(step, { ...helping, words: [...helping.words, { to, message }] });
};

/** Tells the target, once and whenever it asks again, that this session comes to nothing. */
const tellUnreadable = (step: Step, helping: Helping): Helping => {
  const { target, sessionId, words } = helping;
  if (words.some(({ message }) => message._tag === "Repair.Refused")) return helping;
  return tell(step, helping, target, { _tag: "Repair.Refused", sessionId, code: "PART_UNREADABLE" });
};

const routeOf = (step: Step, { target, asked, generations }: Helping, what: Route["what"], to: PeerId): Route => ({
  what,
  target,
  asked,
  generations,
  from: step.self,
  to,
});

const tellParts = (step: Step, helping: Helping, to: PeerId): Helping => {
  const { sessionId, boxSeed, parts, keys } = helping;
  const { boxes } = step.context.keyCrypto;
  const theirs = keys.get(to);
  const index = shareIndexOf(step.membership, to);
  if (theirs === undefined || index === undefined) return helping;
  if (helping.words.length === 0) pay(step, helping.target, costOf(step, helping));
  const secrets = parts.flatMap((each) => each.get(index) ?? []);
  const sealed = sealedFor(boxes, boxSeed, theirs, routeOf(step, helping, "part", to), secrets);
  if (sealed === undefined) return tellUnreadable(step, helping);
  return tell(step, helping, to, { _tag: "Repair.Part", sessionId, boxKey: boxes.keyOf(boxSeed), boxes: sealed });
};

/** The session in which this member is another helper. */
const sessionOf = (step: Step, from: PeerId, sessionId: Digest): Helping | undefined => {
  for (const helping of step.slice(repairs).helping.values())
    if (helping.sessionId === sessionId) return helping.helpers.includes(from) ? helping : undefined;
  return undefined;
};

/** Another helper's key: the first one counts, and is answered with what that helper is told. */
const withKey = (step: Step, helping: Helping, from: PeerId, boxKey: string): Helping => {
  if (helping.keys.has(from)) return helping;
  const keyed = keep(step, { ...helping, keys: withEntry(helping.keys, from, boxKey as BoxKey) });
  return tellParts(step, keyed, from);
};

export const onKey = (step: Step, from: PeerId, { sessionId, boxKey }: RepairMessageOf<"Repair.Key">): void => {
  const helping = sessionOf(step, from, sessionId);
  if (helping !== undefined) withKey(step, helping, from, boxKey);
};

export const onPart = (
  step: Step,
  from: PeerId,
  { sessionId, boxKey, boxes: sealed }: RepairMessageOf<"Repair.Part">,
): void => {
  const known = sessionOf(step, from, sessionId);
  if (known === undefined || known.received.has(from) || known.broken.has(from)) return;
  const helping = withKey(step, known, from, boxKey);
  const { boxes } = step.context.keyCrypto;
  const theirs = helping.keys.get(from);
  const route: Route = { ...routeOf(step, helping, "part", step.self), from };
  const parts = theirs && openedFrom(boxes, helping.boxSeed, theirs, route, sealed);
  if (parts === undefined) {
    const broken = copyOfSet(helping.broken).add(from);
    return void tellUnreadable(step, keep(step, { ...helping, broken }));
  }
  const received = withEntry(helping.received, from, parts);
  const heard = keep(step, { ...helping, received });
  if (received.size + 1 === helping.helpers.length) tellSum(step, heard);
};

/** The sums: all helpers have told theirs. */
const tellSum = (step: Step, helping: Helping): void => {
  const { target, sessionId, keyId, generations, boxSeed, targetKey, parts, received } = helping;
  const { keyCrypto } = step.context;
  const key = keyRows(step.view).get("custodyKeys", keyId);
  const scheme = key && suiteOf(keyCrypto, key.algorithm, key.scheme)?.shared;
  const own = shareIndexOf(step.membership, step.self) ?? 0;
  if (scheme === undefined) return;
  const sums = generations.flatMap(
    (_, at) =>
      scheme.repairSum(
        [parts[at]?.get(own), ...[...received.values()].map((each) => each[at])].flatMap((each) => each ?? []),
      ) ?? [],
  );
  // Whoever opens boxes rightly may still have put in what is no part.
  if (sums.length < generations.length) return void tellUnreadable(step, helping);
  const { boxes } = keyCrypto;
  const sealed = sealedFor(boxes, boxSeed, targetKey, routeOf(step, helping, "sum", target), sums);
  // Its own key is none: it can be told nothing.
  if (sealed === undefined) return;
  tell(step, helping, target, { _tag: "Repair.Sum", sessionId, boxKey: boxes.keyOf(boxSeed), boxes: sealed });
};

/** Lets sessions go that have come to nothing in time. */
export const onHelpingTimer = (step: Step): void => {
  for (const [target, { openedAt }] of step.slice(repairs).helping)
    if (step.elapsed - openedAt >= Limits.repairMillis) step.editIn(repairs, "helping").delete(target);
};

/** Lets go of what would make a share that is erased; called at the end of every event. */
export const tidyHelping = (step: Step): void => {
  for (const [target, { keyId, generations }] of step.slice(repairs).helping)
    if (generations.some((each) => wantedHere(step, keyId, each) === undefined))
      step.editIn(repairs, "helping").delete(target);
  if (step.slice(repairs).helping.size > 0) step.arm(HELPING_TIMER, HELPING_MILLIS);
};
