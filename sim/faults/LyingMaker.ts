/**
 * Members that lie while keys are made: one that spoils what it says, or ends what it may not, and one that makes
 * another key with some than with the others, in words that hold for each of them.
 */
import type { KeygenMessageOf, SaidPackage } from "../../core/commands/makeKey/KeygenMessages.ts";
import type { KeygenSession, MakingState } from "../../core/commands/makeKey/MakingState.ts";
import { heardDigest } from "../../core/commands/makeKey/Transcript.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import { type BoxKey, suiteOf } from "../../core/threshold/Suite.ts";
import type { Element, KeygenPackage, Parties, ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import type { Unit } from "../base/Choices.ts";
import { generationKey } from "../checkers/KeyFacts.ts";
import { generationIn } from "../models/keys/KeyEffects.ts";
import { bent } from "./LyingSigner.ts";
import type { Lie, Traitor } from "./Traitor.ts";

const FOREIGN = "d".repeat(64) as Digest;
/** A number of the toy group, small enough for any. */
const OTHER_SHARE = new Secret(new Uint8Array(8).fill(1));
/** What another polynomial than its own is drawn from. */
const OTHER_SEED = new Secret(new Uint8Array(32).fill(5));

const bentBytes = (unit: Unit, bytes: Uint8Array): Uint8Array => {
  const at = unit.between("byte", 0, 0, Math.max(0, bytes.length - 1), 0, 128);
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
};

export const sessionIn = ({ peer: { state } }: Traitor, sessionId: Digest): KeygenSession | undefined =>
  (state?.modules["makeKey"] as MakingState | undefined)?.sessions.get(sessionId);

/** A box that opens where it goes, with this secret in it; undefined where nobody knows the keys any more. */
const boxOf = (
  traitor: Traitor,
  to: PeerId,
  { sessionId }: KeygenMessageOf<"Keygen.Share">,
  secret: Secret,
): Uint8Array | undefined => {
  const { drawn, packages } = sessionIn(traitor, sessionId) ?? {};
  const theirs = packages?.get(to)?.boxKey;
  if (drawn === undefined || theirs === undefined) return undefined;
  const place = `keygen ${sessionId} ${traitor.peer.peerId} ${to}`;
  // A key of another form was not kept.
  return traitor.world.cryptography.keyCrypto.boxes.seal(drawn.boxSeed, theirs as BoxKey, place, secret);
};

/** The sessions that a message is about: of a proposal, the one that made what it rests on. */
const sessionsOf = ({ peer: { state, store } }: Traitor, message: Message): ReadonlyArray<Digest> => {
  if (message._tag === "Keygen.Package" || message._tag === "Keygen.Share") return [message.sessionId];
  if (message._tag !== "Prepare" || state === undefined) return [];
  const refs = message.items.flatMap(({ proposal }) => generationIn(proposal) ?? []);
  return refs.flatMap(
    ({ keyId, generation }) => store.get("pending", generationKey(keyId, generation))?.sessionId ?? [],
  );
};

/** Another than the writer says to others that sessions are over; the writer, of what it has just proposed. */
const endings = (traitor: Traitor, to: PeerId, message: Message): ReadonlyArray<Message> => {
  const { ghost, marks, choices } = traitor.world;
  const writer = ghost.membership?.writer;
  const isWriter = traitor.peer.peerId === writer;
  if (to === writer || isWriter !== (message._tag === "Prepare")) return [];
  return sessionsOf(traitor, message).flatMap((sessionId): ReadonlyArray<Message> => {
    const unit = choices.stream(`endings of ${traitor.peer.slot}`).next();
    if (!unit.chance("ends it", isWriter ? 500 : 200)) return [];
    marks.add(isWriter ? "a writer ended what it had proposed" : "a member ended a key generation of others");
    return [{ _tag: "Keygen.Ended", sessionId, code: "NOT_PROPOSED", members: [] }];
  });
};

/** It spoils what it says, and then says that it is over. */
export const spoilingMaker = (): Lie => {
  const spoil = spoiling();
  return (traitor, to, message) => [...spoil(traitor, to, message), ...endings(traitor, to, message)];
};

/** It says other packages to some, sends boxes that hold nothing, and says that it stored what nobody made. */
const spoiling =
  (): Lie =>
  (traitor, to, message): ReadonlyArray<Message> => {
    const unit = traitor.next();
    const { marks } = traitor.world;
    if (message._tag === "Keygen.Package" && unit.chance("says another package", 250)) {
      marks.add("a member equivocated in a key generation");
      const { commitments, boxKey, proof } = message.said;
      const said = unit.chance("in its commitments", 500)
        ? { ...message.said, commitments: commitments.map((each) => bent(unit, each)) }
        : { ...message.said, boxKey: bent(unit, boxKey), proof };
      return [{ ...message, said }];
    }
    if (message._tag === "Keygen.Share" && unit.chance("tells another share", 200)) {
      const box = boxOf(traitor, to, message, OTHER_SHARE);
      if (box !== undefined) {
        marks.add("a member told a share of no polynomial");
        return [{ ...message, box }];
      }
    }
    if (message._tag === "Keygen.Share" && unit.chance("spoils the box", 250)) {
      marks.add("a member sent a box that holds nothing");
      return [{ ...message, box: bentBytes(unit, message.box) }];
    }
    if (message._tag === "Keygen.Stored" && unit.chance("stored something else", 150))
      return [{ ...message, transcript: FOREIGN }];
    return [message];
  };

export interface Making {
  readonly scheme: ThresholdScheme;
  readonly parties: Parties;
  readonly me: number;
}

/** What a session makes; undefined where it is over. */
export const makingIn = (traitor: Traitor, session: KeygenSession | undefined): Making | undefined => {
  const { peer, world } = traitor;
  const { topology } = world.ghost.membership ?? {};
  if (session === undefined || topology === undefined) return undefined;
  const { algorithm = "", scheme = "" } = peer.store.get("custodyKeys", session.making.keyId) ?? session.making;
  const { shared } = suiteOf(world.cryptography.keyCrypto, algorithm, scheme) ?? {};
  const { members, threshold } = topology;
  const indexes = members.map(({ shareIndex }) => shareIndex);
  return shared && { scheme: shared, parties: { threshold, indexes }, me: session.own.index };
};

/** Schemes read what others said, and blame whose word is no element. */
const asPackage = ({ index, commitments, proof }: SaidPackage): KeygenPackage => ({
  index,
  commitments: commitments as ReadonlyArray<Element>,
  proof: proof ?? "",
});

const heardBy = ({ sessionId, making: { requestDigest } }: KeygenSession, packages: ReadonlyArray<SaidPackage>) => ({
  sessionId,
  requestDigest,
  packages,
});

/** All but one are told of one polynomial, and that one of another, with proof, share and echo as it would be. */
export const equivocatingMaker = (): Lie => {
  /** By session: who is told of the other one. */
  const victims = new Map<Digest, PeerId | undefined>();
  return (traitor, to, message): ReadonlyArray<Message> => {
    if (message._tag !== "Keygen.Package" && message._tag !== "Keygen.Share") return [message];
    const { sessionId } = message;
    const session = sessionIn(traitor, sessionId);
    // It knows the rounds of a new key only.
    const making = session?.old === undefined ? makingIn(traitor, session) : undefined;
    if (session === undefined || making === undefined) return [message];
    if (!victims.has(sessionId)) victims.set(sessionId, traitor.next().chance("equivocates", 400) ? to : undefined);
    if (victims.get(sessionId) !== to) return [message];
    const { scheme, parties, me } = making;
    const other = { ...scheme.keygenPackage(OTHER_SEED, me, parties), boxKey: session.own.boxKey };
    traitor.world.marks.add("a member made two keys in one session");
    if (message._tag === "Keygen.Package") return [{ ...message, said: other }];
    const { peerIds = [] } = traitor.world.ghost.membership ?? {};
    const all = peerIds.flatMap((each) => (each === traitor.peer.peerId ? other : (session.packages.get(each) ?? [])));
    const shares = scheme.keygenShares(OTHER_SEED, me, parties, all.filter((each) => each !== other).map(asPackage));
    const index = session.packages.get(to)?.index ?? 0;
    const secret = shares._tag === "Right" ? shares.right.get(index) : undefined;
    const box = secret && boxOf(traitor, to, message, secret);
    return box === undefined
      ? [message]
      : [{ ...message, box, heard: heardDigest(traitor.world.cryptography.crypto, heardBy(session, all)) }];
  };
};
