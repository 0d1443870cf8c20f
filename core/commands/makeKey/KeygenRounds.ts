/**
 * How a member makes its share of a key together with all others: two rounds, in which each tells all what it commits
 * to, and each tells each its share under keys of this session. What comes of it is stored before anybody is told
 * (protocol.md, Keys).
 */
import { Either } from "effect";
import { withEntry } from "../../base/Copies.ts";
import type { Digest } from "../../base/Digest.ts";
import { InvariantViolation } from "../../base/Invariant.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Step } from "../../protocol/Step.ts";
import { Secret } from "../../threshold/Secret.ts";
import type { BoxKey, Suite } from "../../threshold/Suite.ts";
import type { Blame, KeyAndShare, Parties, SecretsFor, ShareIndex } from "../../threshold/ThresholdScheme.ts";
import { groupRecordOf } from "../keys/GroupRecord.ts";
import { shareIndexOf } from "../keys/HeldShare.ts";
import { shareBox } from "../keys/ShareBox.ts";
import type { KeygenMessage, SaidPackage } from "./KeygenMessages.ts";
import { type AskedOfMembers, type KeygenSession, makings } from "./MakingState.ts";
import { suiteOfMaking } from "./MakingStanding.ts";
import { type Old, type Rounds, roundsOf, wipeOld } from "./SchemeRounds.ts";
import { heardDigest, transcriptDigest } from "./Transcript.ts";

export const AGAIN_TIMER = "Keygen.again";
export const AGAIN_MILLIS = 500;

/** Why a session cannot go on, and the members whose word did not hold, as far as that is known. */
export interface Failure {
  readonly code: string;
  readonly members: ReadonlyArray<PeerId>;
}

/** Of two members that contradict each other nobody else knows which is at fault. */
export const DISPUTED = "KEYGEN_DISPUTED";

const BOX_KEY = /^[0-9a-f]{64}$/;

/** Where a member's shares lie. */
const indexOf = ({ membership }: Step, peerId: PeerId): ShareIndex => {
  const index = shareIndexOf(membership, peerId);
  if (index === undefined) throw new InvariantViolation("S19", `peer ${peerId} is no member`);
  return index;
};

const partiesOf = ({ membership }: Step): Parties => ({
  threshold: membership.topology.threshold,
  indexes: membership.topology.members.map(({ shareIndex }) => shareIndex),
});

export const suiteHere = (step: Step, making: KeygenSession["making"]): Suite =>
  Either.getOrThrowWith(
    suiteOfMaking(step, making),
    () => new InvariantViolation("K6", "a session was opened for a key that cannot be made here"),
  );

const rounds = (step: Step, making: KeygenSession["making"], old: Old | undefined): Rounds => {
  const { shared } = suiteHere(step, making);
  if (shared === undefined) throw new InvariantViolation("K6", "a session was opened for a key that is not shared");
  return roundsOf(shared, indexOf(step, step.self), partiesOf(step), old);
};

const peerAt = ({ membership }: Step, index: ShareIndex): ReadonlyArray<PeerId> =>
  membership.topology.members.filter((each) => each.shareIndex === index).map(({ peerId }) => peerId);

/** Whoever says that another was wrong may be wrong itself. */
const blamed = (step: Step, { indexes }: Blame): Failure => ({
  code: DISPUTED,
  members: [...indexes.flatMap((index) => peerAt(step, index)), step.self],
});

/** Begins this peer's part of a session, and tells all others what it commits to. */
export const beginSession = (
  step: Step,
  begun: Pick<KeygenSession, "sessionId" | "making" | "asked" | "incarnations" | "old" | "deadline">,
): KeygenSession => {
  const { crypto, entropy, keyCrypto } = step.context;
  const { sessionId, making, old } = begun;
  const drawn = {
    seed: new Secret(crypto.derive(entropy, `keygen ${sessionId}`)),
    boxSeed: new Secret(crypto.derive(entropy, `keygen boxes ${sessionId}`)),
  };
  const own: SaidPackage = {
    ...rounds(step, making, old).package(drawn.seed),
    boxKey: keyCrypto.boxes.keyOf(drawn.boxSeed),
  };
  const session: KeygenSession = {
    ...begun,
    drawn,
    own,
    packages: new Map(),
    told: undefined,
    shares: new Map(),
    made: undefined,
    stored: new Map(),
    startedAt: step.elapsed,
  };
  keep(step, session);
  step.arm(AGAIN_TIMER, AGAIN_MILLIS);
  return session;
};

/** The session as it goes on from here. */
export const keep = (step: Step, session: KeygenSession): KeygenSession => {
  step.editIn(makings, "sessions").set(session.sessionId, session);
  return session;
};

export const say = (step: Step, message: KeygenMessage, to: ReadonlyArray<PeerId> = step.others): void =>
  step.sendAll(message, to);

/** At the writer. */
export const sayOpen = (
  step: Step,
  { sessionId, incarnations }: KeygenSession,
  { evidence, processes }: AskedOfMembers,
  to: ReadonlyArray<PeerId> = step.others,
): void => {
  for (const peerId of to) {
    const process = processes.get(peerId);
    if (process !== undefined) say(step, { _tag: "Keygen.Open", sessionId, evidence, incarnations, process }, [peerId]);
  }
};

export const sayPackage = (
  step: Step,
  { sessionId, own }: KeygenSession,
  to: ReadonlyArray<PeerId>,
  again = false,
): void => say(step, { _tag: "Keygen.Package", sessionId, said: own, again }, to);

export const sayShare = (step: Step, { sessionId, told }: KeygenSession, to: PeerId, again = false): void => {
  const box = told?.boxes.get(to);
  if (told !== undefined && box !== undefined)
    say(step, { _tag: "Keygen.Share", sessionId, heard: told.heard, box, again }, [to]);
};

/** A member's package; the first one counts, and another one ends the session. */
export const notePackage = (
  step: Step,
  session: KeygenSession,
  from: PeerId,
  said: SaidPackage,
): KeygenSession | Failure => {
  const known = session.packages.get(from);
  if (known !== undefined) return isSamePackage(known, said) ? session : { code: DISPUTED, members: [from] };
  const isOwn = said.index === indexOf(step, from) && BOX_KEY.test(said.boxKey);
  return isOwn
    ? keep(step, { ...session, packages: withEntry(session.packages, from, said) })
    : { code: DISPUTED, members: [from] };
};

const isSamePackage = (one: SaidPackage, other: SaidPackage): boolean =>
  one.index === other.index &&
  one.proof === other.proof &&
  one.boxKey === other.boxKey &&
  one.commitments.length === other.commitments.length &&
  one.commitments.every((each, index) => each === other.commitments[index]);

export const isFailure = (result: KeygenSession | Failure): result is Failure => "code" in result;

/** Goes on as far as what has come allows. */
export const proceed = (step: Step, session: KeygenSession): KeygenSession | Failure => {
  const told = session.told === undefined ? tell(step, session) : session;
  return isFailure(told) || told.made !== undefined ? told : finish(step, told);
};

const inOrder = (step: Step, { own, packages }: KeygenSession): ReadonlyArray<SaidPackage> =>
  step.membership.peerIds.flatMap((peerId) => (peerId === step.self ? own : (packages.get(peerId) ?? [])));

const othersIn = (step: Step, { packages }: KeygenSession): ReadonlyArray<SaidPackage> =>
  step.others.flatMap((peerId) => packages.get(peerId) ?? []);

const boxPlace = (sessionId: Digest, from: PeerId, to: PeerId): string => `keygen ${sessionId} ${from} ${to}`;

/** Round two, once all packages are here. */
const tell = (step: Step, session: KeygenSession): KeygenSession | Failure => {
  const { sessionId, drawn, packages } = session;
  if (drawn === undefined || packages.size < step.others.length) return session;
  const secrets = rounds(step, session.making, session.old).shares(drawn.seed, othersIn(step, session));
  if (Either.isLeft(secrets)) return blamed(step, secrets.left);
  const boxes = new Map<PeerId, Uint8Array>();
  for (const peerId of step.others) {
    const secret = secrets.right.get(indexOf(step, peerId));
    const box = secret && sealed(step, session, peerId, secret);
    if (box !== undefined) {
      boxes.set(peerId, box);
      continue;
    }
    wipeAll(secrets.right);
    return { code: DISPUTED, members: [peerId, step.self] };
  }
  wipeAll(secrets.right);
  const { requestDigest } = session.making;
  const heard = heardDigest(step.context.crypto, { sessionId, requestDigest, packages: inOrder(step, session) });
  const next = keep(step, { ...session, told: { heard, boxes } });
  for (const peerId of step.others) sayShare(step, next, peerId);
  return next;
};

const wipeAll = (secrets: SecretsFor): void => {
  for (const secret of secrets.values()) secret.wipe();
};

/** Undefined where the receiver's key is none that gives a secret. */
const sealed = (
  step: Step,
  { sessionId, drawn, packages }: KeygenSession,
  to: PeerId,
  secret: Secret,
): Uint8Array | undefined => {
  const theirs = packages.get(to)?.boxKey;
  if (drawn === undefined || theirs === undefined) return undefined;
  try {
    // The form was looked at when it came.
    const key = theirs as BoxKey;
    return step.context.keyCrypto.boxes.seal(drawn.boxSeed, key, boxPlace(sessionId, step.self, to), secret);
  } catch {
    return undefined;
  }
};

/** The share is made once all have told theirs, of which all have heard the same. */
const finish = (step: Step, session: KeygenSession): KeygenSession | Failure => {
  const { sessionId, drawn, told, shares, packages } = session;
  if (drawn === undefined || told === undefined || shares.size < step.others.length) return session;
  const { boxes } = step.context.keyCrypto;
  const received = new Map<ShareIndex, Secret>();
  for (const [peerId, { heard, box }] of shares) {
    const theirs = packages.get(peerId)?.boxKey as BoxKey;
    const isSame = heard === told.heard;
    const secret = isSame ? boxes.open(drawn.boxSeed, theirs, boxPlace(sessionId, peerId, step.self), box) : undefined;
    if (secret === undefined) {
      wipeAll(received);
      // Where they have not heard the same, any member may have told them different things, the writer two requests.
      return { code: DISPUTED, members: isSame ? [peerId, step.self] : step.membership.peerIds };
    }
    received.set(indexOf(step, peerId), secret);
  }
  const made = rounds(step, session.making, session.old).finish(drawn.seed, othersIn(step, session), received);
  wipeAll(received);
  wipeOld(session.old);
  if (Either.isLeft(made)) return blamed(step, made.left);
  return keep(step, { ...session, drawn: undefined, made: pendingOf(step, session, made.right) });
};

/** The row in which this peer's share waits for its proposal. */
const pendingOf = (
  step: Step,
  session: KeygenSession,
  { key, share }: KeyAndShare,
): NonNullable<KeygenSession["made"]> => {
  const { sessionId, making, incarnations } = session;
  const { requestDigest } = making;
  const publicKey = suiteHere(step, making).shared?.publicKey(key) ?? "";
  const group = groupRecordOf(key);
  const packages = inOrder(step, session);
  const transcript = transcriptDigest(step.context.crypto, { sessionId, requestDigest, packages, publicKey, group });
  const named = { keyId: making.keyId, generation: making.base + 1, publicKey, group, transcript };
  const box = shareBox(step, named, share.secret, sessionId);
  share.secret.wipe();
  return { ...named, sessionId, requestDigest, box, storedAt: step.now, incarnations };
};
