/**
 * A declared restore: this peer's disk is older than what it once said, or may
 * be. It gives up what was undecided, announces a new life, and signs nothing
 * until every other member has that on record. Then it may refuse what its old
 * life left open, but votes for nothing and applies nothing: it takes the
 * registry as it is at members that were not restored, compares what it comes
 * to, and is one of them again (protocol.md 4f, 4i; S21, S26).
 */
import type { Recovery } from "./RecoveryState.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";
import { dropUndecided } from "./Lifecycle.ts";
import { noteSlot } from "./Slots.ts";
import { SELF } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { auditOperators } from "./Audit.ts";
import { forgetCallers } from "./Callers.ts";
import { inquireAgain, isMisled } from "./Inquiry.ts";
import { join } from "./Joining.ts";
import type { Ready } from "./Message.ts";
import { ask, nonceFor } from "./Readiness.ts";
import { type Restoration, restorationCodec, RESTORATION_TAG, restorationHash } from "./Restoration.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import { askSource, freshRecovery, freshTransfer, hide, recover, requestMore, sumUp, waitFor } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";
import { diskHere } from "./UnionPages.ts";
import { BEING_VERIFIED } from "./Unavailable.ts";

const RECOVER_MILLIS = 500;
/** How long a round waits for the answers of all members. */
const ROUND_MILLIS = 2_000;
/** When a page is asked for again, and when the helper is given up. */
const ASK_AGAIN_MILLIS = 1_000;
const SILENT_MILLIS = 5_000;

const UNRECORDED = "not every member has the restore on record yet";

// Declaring.

const declareRefusal = ({ state }: Turn): Rejection | undefined => {
  const {
    cluster: { peer, membership },
    standing: { integrityFault },
  } = state;
  if (peer === undefined)
    return rejection("NOT_INITIALIZED", "This peer is not initialized.", "There is nothing to restore yet.");
  if (integrityFault !== undefined)
    return rejection(
      "INTEGRITY_FAILURE",
      "The stored records of this peer do not hold, so nothing can be built on them.",
      "Put back a backup of its data folder that is whole, however old, and declare the restore then.",
    );
  if ((membership?.peerIds.length ?? peer.total) === 1)
    return rejection(
      "RESTORE_IMPOSSIBLE",
      "A cluster of one has no other member to take the registry from.",
      "Nobody can say what a backup of it lacks; register again what is missing.",
    );
  return undefined;
};

/**
 * Begins at once, or with the unseal where this peer is sealed, or with its topology where its disk is from before
 * that: before it can sign anything as what it was.
 */
export const onDeclareRestore = (turn: Turn, requestId: string, acts?: ReadonlyArray<NumberedAct>): void => {
  const refusal = declareRefusal(turn);
  if (refusal !== undefined) return turn.reply(requestId, { _tag: "Rejected", rejection: refusal });
  if (!turn.state.standing.unsealed || turn.state.cluster.membership === undefined) {
    turn.draft("rejoining").isDeclared = true;
    return turn.reply(requestId, { _tag: "Restoring", incarnation: undefined });
  }
  begin(turn, 0);
  auditOperators(turn, acts);
  turn.reply(requestId, { _tag: "Restoring", incarnation: turn.state.signed.chain.incarnation });
};

/** The peer was unsealed, or was shown its topology: carries out what was declared before. */
export const beginDeclared = (turn: Turn): void => {
  if (!turn.state.rejoining.isDeclared || turn.state.cluster.membership === undefined) return;
  turn.draft("rejoining").isDeclared = false;
  if (declareRefusal(turn) === undefined) begin(turn, 0);
};

/** Somebody has an equal or higher incarnation of this peer on record: it takes one above that. */
export const raiseIfOutbid = (turn: Turn): void => {
  const outbid = turn.state.rejoining.recovery?.outbid;
  if (outbid !== undefined) begin(turn, outbid);
};

/** Starts a new life, whatever the last one had come to. */
const begin = (turn: Turn, above: number): void => {
  const { signer, crypto, entropy, now } = turn.context;
  if (signer === undefined) return;
  forgetCallers(turn, "it is recovering");
  const {
    signed: { chain },
    rejoining: { restored },
  } = turn.state;
  const restoration: Restoration = {
    version: turn.version,
    topologyDigest: turn.membership.digest,
    peerId: turn.self,
    incarnation: Math.max(now, 1 + Math.max(above, chain.incarnation)),
    // Nobody asks itself, so no probe of this step has the same.
    recoveryId: nonceFor(turn, entropy, turn.self),
  };
  const signature = signer.sign(RESTORATION_TAG, restorationCodec, restoration);
  const op = restored === undefined ? "insert" : "replace";
  const lives = turn.context.view.get("restore", SELF)?.lives ?? [];
  turn.write({ op, table: "restore", key: SELF, row: { restoration, signature, recovering: true, lives } });
  dropUndecided(turn);
  hide(turn);
  turn.draft("rejoining").restored = { restoration, signature };
  turn.draft("signed").chain = {
    incarnation: restoration.incarnation,
    batchNo: chain.batchNo,
    hash: restorationHash(crypto, restoration),
  };
  turn.draft("standing").quarantine = undefined;
  turn.draft("rejoining").recovery = freshRecovery(UNRECORDED);
  turn.draft("rejoining").unproven = new Set(turn.others);
  turn.draft("rejoining").joinNonce = undefined;
  join(turn);
  recover(turn);
};

// Asking all.

export const onRecoverTimer = (turn: Turn): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery === undefined) return;
  turn.arm("recover", RECOVER_MILLIS);
  // Every refusal is final in the life that made it; another life has made none.
  if (turn.mode === "recovering" && isMisled(turn.state)) return begin(turn, 0);
  const { transfer } = recovery;
  if (turn.mode === "announcing" && transfer?.isShared === true) return waitFor(turn, UNRECORDED);
  if (transfer?.sum !== undefined) return sumUp(turn, recovery, transfer, transfer.sum);
  inquireAgain(turn, recovery);
  if (transfer === undefined) return askAll(turn, recovery);
  if (turn.elapsed - transfer.movedAt >= SILENT_MILLIS)
    return waitFor(turn, `peer ${transfer.helper} does not go on with its offer`);
  if (turn.elapsed - transfer.askedAt >= ASK_AGAIN_MILLIS) requestMore(turn, transfer);
};

const askAll = (turn: Turn, recovery: Recovery): void => {
  if (recovery.nonce !== undefined) {
    if (turn.elapsed - recovery.startedAt < ROUND_MILLIS) return;
    showWhile(turn, recovery, turn.mode === "announcing" ? UNRECORDED : silentOnes(turn, recovery));
  }
  const current = turn.state.rejoining.recovery;
  if (current === undefined || current.transfer !== undefined) return;
  const nonce = turn.context.entropy;
  turn.draft("rejoining").recovery = { ...current, nonce, startedAt: turn.elapsed, answers: new Map() };
  ask(turn, nonce, turn.others);
};

const silentOnes = (turn: Turn, { answers }: Recovery): string =>
  turn.others
    .filter((peerId) => !answers.has(peerId))
    .map((peerId) => `peer ${peerId} does not answer`)
    .join("; ");

/** What a member has, asked by a peer that is recovering. */
export const onMemberAnswer = (turn: Turn, from: PeerId, ready: Ready): void => {
  const {
    rejoining: { recovery },
  } = turn.state;
  if (recovery?.nonce === undefined || recovery.transfer !== undefined) return;
  if (ready.peerId !== from || recovery.answers.has(from)) return;
  if (ready.nonce !== nonceFor(turn, recovery.nonce, from)) return;
  const answers = new Map(recovery.answers).set(from, ready);
  const answered = { ...recovery, answers };
  turn.draft("rejoining").recovery = answered;
  if (answers.size === turn.others.length) conclude(turn, answered);
};

/** Why nothing can be taken over yet as far as this member goes, or undefined. */
const hindrance = (turn: Turn, ready: Ready): string | undefined => {
  if (ready.sealed) return ready.mode === "verifying" ? BEING_VERIFIED : "it is sealed";
  if (!ready.integrityOk) return "its stored records do not hold";
  if (ready.topologyDigest !== turn.membership.digest) return "it belongs to another topology";
  if (ready.recorded?.restoration.recoveryId !== turn.state.rejoining.restored?.restoration.recoveryId)
    return "it has not recorded the restore";
  if (ready.mode !== "active" && ready.mode !== "recovering") return `it is ${ready.mode}`;
  return ready.mode === "active" && ready.uncommitted > 0 ? "something is undecided there" : undefined;
};

const DIFFERENT = "the other members do not have the same registry yet";

/** All have answered: takes the registry of one whose contents every other active member has too. */
const conclude = (turn: Turn, recovery: Recovery): void => {
  const answers = [...recovery.answers.values()];
  for (const ready of answers) noteHighest(turn, ready);
  if (turn.mode === "announcing") return showWhile(turn, recovery, UNRECORDED);
  for (const ready of answers) {
    const found = hindrance(turn, ready);
    if (found !== undefined) return showWhile(turn, recovery, `peer ${ready.peerId}: ${found}`);
  }
  const offering = answers.filter((ready) => ready.mode === "active");
  if (offering.length === 0) return uniteAll(turn, recovery, answers);
  if (!isOneRegistry(offering)) return waitFor(turn, DIFFERENT);
  takeOver(turn, recovery, offering, true);
};

/**
 * All are being restored, and all have all their lives on record. While that is so nobody is a member again before the
 * writer is: whoever hears of a new life asks anew, and every active answer was given before its giver was restored.
 */
const uniteAll = (turn: Turn, recovery: Recovery, answers: ReadonlyArray<Ready>): void => {
  const { writer } = turn.membership;
  if (!turn.isWriter)
    return waitFor(turn, `every member is being restored: peer ${writer}, the writer, puts together what they have`);
  const sources = answers.flatMap(({ peerId, restored }) =>
    restored === undefined ? [] : [{ peerId, recoveryId: restored.restoration.recoveryId }],
  );
  turn.draft("rejoining").recovery = recovery;
  askSource(turn, { sources, at: 0, disks: [diskHere(turn)], looks: [], united: undefined }, false);
};

const isOneRegistry = ([first, ...others]: ReadonlyArray<Ready>): boolean =>
  others.every((each) => each.registryRoot === first?.registryRoot && each.approvers === first.approvers);

/**
 * Not every member can be asked: this peer cannot take part, but reads wait for nobody (contract 10.1). One member that
 * was not restored, has nothing undecided and has this life on record, has every approver there will be until this peer
 * votes again: what is certified without this life needed that member's receipt. So its registry may be shown.
 */
const showWhile = (turn: Turn, recovery: Recovery, waitsFor: string): void => {
  const offering = [...recovery.answers.values()].filter(
    (ready) =>
      ready.mode === "active" &&
      !turn.state.rejoining.unproven.has(ready.peerId) &&
      hindrance(turn, ready) === undefined,
  );
  if (recovery.isReadable || offering.length === 0) return waitFor(turn, waitsFor);
  if (!isOneRegistry(offering)) return waitFor(turn, DIFFERENT);
  takeOver(turn, recovery, offering, false);
};

const takeOver = (turn: Turn, recovery: Recovery, offering: ReadonlyArray<Ready>, isShared: boolean): void => {
  const trusted = offering.filter((each) => !recovery.distrusted.has(each.peerId));
  if (trusted.length === 0) turn.draft("rejoining").recovery = { ...recovery, distrusted: new Set() };
  const chosen = trusted[0] ?? offering[0];
  if (chosen === undefined) return;
  const { peerId: helper, registryRoot: root, approvers: count } = chosen;
  requestMore(turn, freshTransfer(turn, { helper, root, count, isShared }));
};

/** A restored writer must not use a slot again that somebody has seen it use. */
const noteHighest = (turn: Turn, { highSeq, highSeqProof: proof }: Ready): void => {
  if (proof === undefined || highSeq <= turn.state.undecided.highSeq || proof.statement.seq !== highSeq) return;
  if (proof.statement.kind !== "RECEIPT" || signerOf(proof) !== turn.membership.writer) return;
  if (isAuthentic(turn.context.crypto, turn.membership, proof)) noteSlot(turn, highSeq, proof);
};
