/**
 * A member as one of the helpers of a repair: it splits its weighted share among all helpers and tells the target only
 * the sum of what all have told it (Stinson and Wei 2018, 2.2). Each session splits anew, so that sessions with
 * different helpers have no equation in common.
 */
import { Either } from "effect";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { authorize } from "../../auth/Authorization.ts";
import { withEntry } from "../../base/Copies.ts";
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

const OPEN_TAG = "CUSTODY_REPAIR_OPEN_V1";

type Open = RepairMessageOf<"Repair.Open">;

/** Why a member does not help, as a code. */
type Refusal = string;

/** The registry root, as in `Ready`. */
export const rootOf = ({ state, context: { crypto } }: Step): Digest => crypto.setDigest(state.registry.set);

/** One cutoff: nothing is under way here that could change what is repaired. */
export const isIdle = ({ state: { undecided } }: Step): boolean => undecided.preparations.size === 0;

const judge = (step: Step, target: PeerId, open: Open, actor: ActorCheck): Either.Either<Helping, Refusal> => {
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
  });
};

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
    return goOn(step, known);
  }
  const judged = judge(step, from, open, actors[0] ?? { _tag: "Unavailable" });
  if (Either.isLeft(judged)) return refuse(step, from, open.sessionId, judged.left);
  // An earlier session of this target ends: it may begin anew, with other splits.
  goOn(step, keep(step, judged.right));
};

/** Says again whatever others may still lack. */
const goOn = (step: Step, helping: Helping): void => {
  const boxKey = step.context.keyCrypto.boxes.keyOf(helping.boxSeed);
  const key: RepairMessage = { _tag: "Repair.Key", sessionId: helping.sessionId, boxKey };
  step.sendFlushed(
    key,
    helping.helpers.filter((each) => each !== step.self && !helping.keys.has(each)),
  );
  for (const peerId of helping.keys.keys()) sendParts(step, helping, peerId);
  sendSum(step, helping);
};

const routeOf = (step: Step, { target, asked, generations }: Helping, what: Route["what"], to: PeerId): Route => ({
  what,
  target,
  asked,
  generations,
  from: step.self,
  to,
});

const sendParts = (step: Step, helping: Helping, to: PeerId): void => {
  const { target, sessionId, boxSeed, parts, keys } = helping;
  const { boxes } = step.context.keyCrypto;
  const theirs = keys.get(to);
  const index = shareIndexOf(step.membership, to);
  if (theirs === undefined || index === undefined) return;
  const secrets = parts.flatMap((each) => each.get(index) ?? []);
  const sealed = sealedFor(boxes, boxSeed, theirs, routeOf(step, helping, "part", to), secrets);
  if (sealed === undefined) return refuse(step, target, sessionId, "PART_UNREADABLE");
  const message: RepairMessage = { _tag: "Repair.Part", sessionId, boxKey: boxes.keyOf(boxSeed), boxes: sealed };
  step.sendFlushed(message, [to]);
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
  sendParts(step, keyed, from);
  return keyed;
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
  if (known === undefined || known.received.has(from)) return;
  const helping = withKey(step, known, from, boxKey);
  const { boxes } = step.context.keyCrypto;
  const theirs = helping.keys.get(from);
  const route: Route = { ...routeOf(step, helping, "part", step.self), from };
  const parts = theirs && openedFrom(boxes, helping.boxSeed, theirs, route, sealed);
  if (parts === undefined) return refuse(step, helping.target, sessionId, "PART_UNREADABLE");
  sendSum(step, keep(step, { ...helping, received: withEntry(helping.received, from, parts) }));
};

/** The sums, once all helpers have told theirs. */
const sendSum = (step: Step, helping: Helping): void => {
  const { target, helpers, sessionId, keyId, generations, boxSeed, targetKey, parts, received } = helping;
  if (received.size + 1 < helpers.length) return;
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
  if (sums.length < generations.length) return refuse(step, target, sessionId, "PART_UNREADABLE");
  const { boxes } = keyCrypto;
  const sealed = sealedFor(boxes, boxSeed, targetKey, routeOf(step, helping, "sum", target), sums);
  // Its own key is none: it can be told nothing.
  if (sealed === undefined) return;
  const message: RepairMessage = { _tag: "Repair.Sum", sessionId, boxKey: boxes.keyOf(boxSeed), boxes: sealed };
  step.sendFlushed(message, [target]);
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
