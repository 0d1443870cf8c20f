/**
 * A declared restore: this peer's disk is older than what it once said, or may
 * be. It gives up what was undecided, announces a new life, and signs nothing
 * until every other member has that on record. Then it may refuse what its old
 * life left open, but votes for nothing and applies nothing: it takes the
 * registry as it is at members that were not restored, compares what it comes
 * to, and is one of them again (protocol.md 4f, 4i; S21, S26).
 */
import type { Digest } from "../Digest.ts";
import { replaceApprover } from "../registry/Root.ts";
import { Limits } from "../Limits.ts";
import type { PeerState, Recovery, Sum, Transfer, Union } from "../PeerState.ts";
import { type Rejection, rejection } from "../Rejection.ts";
import { numberKey, SELF } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { auditOperators } from "./Audit.ts";
import { forgetCallers } from "./Callers.ts";
import { decisionOf } from "./Decision.ts";
import { highProofOf } from "./HighSlot.ts";
import { inquireAgain, isMisled } from "./Inquiry.ts";
import { join, takeUp } from "./Joining.ts";
import type { MessageOf, Ready } from "./Message.ts";
import { ask, nonceFor, ownFault } from "./Readiness.ts";
import { type Restoration, restorationCodec, RESTORATION_TAG, restorationHash } from "./Restoration.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { installOffer } from "./SnapshotInstall.ts";
import { installUnion, newestEra, voidedHere } from "./Union.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import type { PeerId } from "./Topology.ts";
import { BEING_VERIFIED } from "./Unavailable.ts";

const RECOVER_MILLIS = 500;
/** How long a round waits for the answers of all members. */
const ROUND_MILLIS = 2_000;
/** When a page is asked for again, and when the helper is given up. */
const ASK_AGAIN_MILLIS = 1_000;
const SILENT_MILLIS = 5_000;
/** Approvers read in one turn, when the root is computed from them. */
const SUM_ROWS = 256;

/** A recovery that has yet to begin. */
export const freshRecovery = (waitsFor: string, distrusted: ReadonlySet<PeerId> = new Set()): Recovery => ({
  nonce: undefined,
  startedAt: 0,
  answers: new Map(),
  transfer: undefined,
  inquiries: new Map(),
  writersOwn: 0,
  outbid: undefined,
  isReadable: false,
  distrusted,
  waitsFor,
});

const UNRECORDED = "not every member has the restore on record yet";
const OTHER_BACKUP = "put another backup of a peer in its place, and declare its restore again";
const UNASKED = "not every member has said yet what it has";

// Declaring.

const declareRefusal = ({ state }: Turn): Rejection | undefined => {
  const { peer, membership, integrityFault } = state;
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
  if (!turn.state.unsealed || turn.state.membership === undefined) {
    turn.state.isDeclared = true;
    return turn.reply(requestId, { _tag: "Restoring", incarnation: undefined });
  }
  begin(turn, 0);
  auditOperators(turn, acts);
  turn.reply(requestId, { _tag: "Restoring", incarnation: turn.state.chain.incarnation });
};

/** The peer was unsealed, or was shown its topology: carries out what was declared before. */
export const beginDeclared = (turn: Turn): void => {
  if (!turn.state.isDeclared || turn.state.membership === undefined) return;
  turn.state.isDeclared = false;
  if (declareRefusal(turn) === undefined) begin(turn, 0);
};

/** Somebody has an equal or higher incarnation of this peer on record: it takes one above that. */
export const raiseIfOutbid = (turn: Turn): void => {
  const outbid = turn.state.recovery?.outbid;
  if (outbid !== undefined) begin(turn, outbid);
};

/** Starts a new life, whatever the last one had come to. */
const begin = (turn: Turn, above: number): void => {
  const { signer, crypto, entropy, now } = turn.context;
  if (signer === undefined) return;
  forgetCallers(turn, "it is recovering");
  const { chain, restored } = turn.state;
  const restoration: Restoration = {
    topologyDigest: turn.membership.digest,
    peerId: turn.self,
    incarnation: Math.max(now, 1 + Math.max(above, chain.incarnation)),
    // Nobody asks itself, so no probe of this step has the same.
    recoveryId: nonceFor(turn, entropy, turn.self),
  };
  const signature = signer.sign(RESTORATION_TAG, restorationCodec, restoration);
  const op = restored === undefined ? "insert" : "replace";
  turn.write({ op, table: "restore", key: SELF, row: { restoration, signature, recovering: true } });
  dropUndecided(turn);
  hide(turn);
  turn.state.restored = { restoration, signature };
  turn.state.chain = {
    incarnation: restoration.incarnation,
    batchNo: chain.batchNo,
    hash: restorationHash(crypto, restoration),
  };
  turn.state.quarantine = undefined;
  turn.state.recovery = freshRecovery(UNRECORDED);
  turn.state.unproven = new Set(turn.others);
  turn.state.joinNonce = undefined;
  join(turn);
  recover(turn);
};

/** Every row that is not final: what becomes of it is for the others to say. */
const dropUndecided = (turn: Turn): void => {
  const { preparations, refused, aborting, outbox } = turn.state;
  for (const key of preparations.keys()) turn.write({ op: "remove", table: "preparations", key });
  for (const key of refused.keys()) turn.write({ op: "remove", table: "refusals", key });
  for (const key of aborting.keys()) turn.write({ op: "remove", table: "aborts", key });
  for (const seq of outbox.keys()) turn.write({ op: "remove", table: "outbox", key: numberKey(seq) });
  turn.edit("preparations").clear();
  turn.edit("refused").clear();
  turn.edit("aborting").clear();
  turn.edit("outbox").clear();
  turn.edit("locks").clear();
  turn.state.prunable = 0;
};

// Asking all.

/** Sees to it that a recovery goes on. */
export const recover = (turn: Turn): void => {
  if (turn.state.recovery !== undefined) turn.arm("recover", 1);
};

export const onRecoverTimer = (turn: Turn): void => {
  const { recovery } = turn.state;
  if (recovery === undefined || ownFault(turn) !== undefined) return;
  turn.arm("recover", RECOVER_MILLIS);
  // Every refusal is final in the life that made it; another life has made none.
  if (!turn.isJoining && isMisled(turn.state)) return begin(turn, 0);
  const { transfer } = recovery;
  if (turn.isJoining && transfer?.isShared === true) return waitFor(turn, UNRECORDED);
  if (transfer?.sum !== undefined) return sumUp(turn, recovery, transfer, transfer.sum);
  inquireAgain(turn, recovery);
  if (transfer === undefined) return askAll(turn, recovery);
  if (turn.elapsed - transfer.movedAt >= SILENT_MILLIS)
    return waitFor(turn, `peer ${transfer.helper} does not go on with its offer`);
  if (turn.elapsed - transfer.askedAt >= ASK_AGAIN_MILLIS) requestMore(turn, transfer);
};

/** Ends the round; the next one begins with the timer. */
const waitFor = (turn: Turn, waitsFor: string, distrusted: PeerId | undefined = undefined): void => {
  const { recovery } = turn.state;
  if (recovery === undefined) return;
  const doubts = new Set(recovery.distrusted);
  if (distrusted !== undefined) doubts.add(distrusted);
  const { inquiries, writersOwn, isReadable } = recovery;
  turn.state.recovery = { ...freshRecovery(waitsFor, doubts), inquiries, writersOwn, isReadable };
};

const askAll = (turn: Turn, recovery: Recovery): void => {
  if (recovery.nonce !== undefined) {
    if (turn.elapsed - recovery.startedAt < ROUND_MILLIS) return;
    showWhile(turn, recovery, turn.isJoining ? UNRECORDED : silentOnes(turn, recovery));
  }
  const current = turn.state.recovery;
  if (current === undefined || current.transfer !== undefined) return;
  const nonce = turn.context.entropy;
  turn.state.recovery = { ...current, nonce, startedAt: turn.elapsed, answers: new Map() };
  ask(turn, nonce, turn.others);
};

const silentOnes = (turn: Turn, { answers }: Recovery): string =>
  turn.others
    .filter((peerId) => !answers.has(peerId))
    .map((peerId) => `peer ${peerId} does not answer`)
    .join("; ");

/** What a member has, asked by a peer that is recovering. */
export const onMemberAnswer = (turn: Turn, from: PeerId, ready: Ready): void => {
  const { recovery } = turn.state;
  if (recovery?.nonce === undefined || recovery.transfer !== undefined || ownFault(turn) !== undefined) return;
  if (ready.peerId !== from || recovery.answers.has(from)) return;
  if (ready.nonce !== nonceFor(turn, recovery.nonce, from)) return;
  const answers = new Map(recovery.answers).set(from, ready);
  const answered = { ...recovery, answers };
  turn.state.recovery = answered;
  if (answers.size === turn.others.length) conclude(turn, answered);
};

/** Why nothing can be taken over yet as far as this member goes, or undefined. */
const hindrance = (turn: Turn, ready: Ready): string | undefined => {
  if (ready.sealed) return ready.mode === "verifying" ? BEING_VERIFIED : "it is sealed";
  if (!ready.integrityOk) return "its stored records do not hold";
  if (ready.topologyDigest !== turn.membership.digest) return "it belongs to another topology";
  if (ready.recorded?.restoration.recoveryId !== turn.state.restored?.restoration.recoveryId)
    return "it has not recorded the restore";
  if (ready.mode !== "active" && ready.mode !== "recovering") return `it is ${ready.mode}`;
  return ready.mode === "active" && ready.uncommitted > 0 ? "something is undecided there" : undefined;
};

const DIFFERENT = "the other members do not have the same registry yet";

/** All have answered: takes the registry of one whose contents every other active member has too. */
const conclude = (turn: Turn, recovery: Recovery): void => {
  const answers = [...recovery.answers.values()];
  for (const ready of answers) noteHighest(turn, ready);
  if (turn.isJoining) return showWhile(turn, recovery, UNRECORDED);
  for (const ready of answers) {
    const found = hindrance(turn, ready);
    if (found !== undefined) return showWhile(turn, recovery, `peer ${ready.peerId}: ${found}`);
  }
  const offering = answers.filter((ready) => ready.mode === "active");
  if (offering.length === 0) return unite(turn, recovery, answers);
  if (!isOneRegistry(offering)) return waitFor(turn, DIFFERENT);
  takeOver(turn, recovery, offering, true);
};

/**
 * All are being restored, and all have all their lives on record. While that is so nobody is a member again before the
 * writer is: whoever hears of a new life asks anew, and every active answer was given before its giver was restored.
 */
const unite = (turn: Turn, recovery: Recovery, answers: ReadonlyArray<Ready>): void => {
  const { writer } = turn.membership;
  if (!turn.isWriter)
    return waitFor(turn, `every member is being restored: peer ${writer}, the writer, puts together what they have`);
  const sources = answers.flatMap(({ peerId, restored }) =>
    restored === undefined ? [] : [{ peerId, recoveryId: restored.restoration.recoveryId }],
  );
  turn.state.recovery = recovery;
  askSource(turn, { sources, at: 0, era: newestEra(turn), voided: new Set(voidedHere(turn)) }, false);
};

/** Begins with the first page of the source whose turn it is. */
const askSource = (turn: Turn, union: Union, undone: boolean): void => {
  const source = union.sources[union.at];
  if (source === undefined) return;
  const { set, approvers: count } = turn.state.registry;
  const root = turn.context.crypto.setDigest(set);
  requestMore(turn, { ...freshTransfer(turn, { helper: source.peerId, root, count, isShared: true }), union, undone });
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
      ready.mode === "active" && !turn.state.unproven.has(ready.peerId) && hindrance(turn, ready) === undefined,
  );
  if (recovery.isReadable || offering.length === 0) return waitFor(turn, waitsFor);
  if (!isOneRegistry(offering)) return waitFor(turn, DIFFERENT);
  takeOver(turn, recovery, offering, false);
};

const takeOver = (turn: Turn, recovery: Recovery, offering: ReadonlyArray<Ready>, isShared: boolean): void => {
  const trusted = offering.filter((each) => !recovery.distrusted.has(each.peerId));
  if (trusted.length === 0) turn.state.recovery = { ...recovery, distrusted: new Set() };
  const chosen = trusted[0] ?? offering[0];
  if (chosen === undefined) return;
  const { peerId: helper, registryRoot: root, approvers: count } = chosen;
  requestMore(turn, freshTransfer(turn, { helper, root, count, isShared }));
};

const freshTransfer = (turn: Turn, from: Pick<Transfer, "helper" | "root" | "count" | "isShared">): Transfer => ({
  ...from,
  union: undefined,
  after: "",
  undone: false,
  empty: 0,
  applied: 0,
  sum: undefined,
  movedAt: turn.elapsed,
  askedAt: turn.elapsed,
});

/** A restored writer must not use a slot again that somebody has seen it use. */
const noteHighest = (turn: Turn, { highSeq, highSeqProof: proof }: Ready): void => {
  if (proof === undefined || highSeq <= turn.state.highSeq || proof.statement.seq !== highSeq) return;
  if (proof.statement.kind !== "RECEIPT" || signerOf(proof) !== turn.membership.writer) return;
  if (isAuthentic(turn.context.crypto, turn.membership, proof)) turn.noteSlot(highSeq, proof);
};

// Taking over.

/** Slots that are refused or prepared and not decided fill so many pages of a helper at most. */
const EMPTY_PAGES = 1 + Math.ceil((Limits.preparations + Limits.refusals) / Limits.batchProposals);

const requestMore = (turn: Turn, transfer: Transfer): void => {
  const { recovery, restored } = turn.state;
  if (recovery?.nonce === undefined || restored === undefined) return;
  const { recoveryId } = restored.restoration;
  const { helper, after } = transfer;
  const waitsFor = `takes the registry from peer ${helper}`;
  turn.state.recovery = { ...recovery, transfer: { ...transfer, askedAt: turn.elapsed }, waitsFor };
  turn.send(helper, { _tag: "SnapshotRequest", recoveryId, nonce: recovery.nonce, after });
};

export const onSnapshotOffer = (turn: Turn, from: PeerId, offer: MessageOf<"SnapshotOffer">): void => {
  const { recovery, restored } = turn.state;
  const transfer = recovery?.transfer;
  if (recovery === undefined || transfer === undefined || ownFault(turn) !== undefined) return;
  if (turn.isJoining && transfer.isShared) return;
  if (from !== transfer.helper || transfer.sum !== undefined || offer.after !== transfer.after) return;
  if (offer.recoveryId !== restored?.restoration.recoveryId || offer.nonce !== recovery.nonce) return;
  const empty = offer.items.length === 0 ? transfer.empty + 1 : 0;
  if (empty > EMPTY_PAGES) return waitFor(turn, `peer ${from} offers page after page with nothing in it`, from);
  if (transfer.union !== undefined) return onOwnRegistry(turn, { ...transfer, empty }, transfer.union, offer);
  if (offer.own !== undefined) return waitFor(turn, `peer ${from} is being restored itself`);
  const { topologyDigest, root, count } = offer.cutoff;
  if (topologyDigest !== turn.membership.digest || root !== transfer.root || count !== transfer.count)
    return waitFor(turn, `peer ${from} offers another registry than it had`, from);
  const installed = installOffer(turn, offer);
  if (installed === undefined) return waitFor(turn, `peer ${from} offers what does not hold`, from);
  if (installed.isSeen) hide(turn);
  const undone = transfer.undone || installed.undone;
  const applied = transfer.applied + installed.applied;
  const next = { ...transfer, undone, empty, applied, movedAt: turn.elapsed };
  if (installed.upTo !== undefined) return requestMore(turn, { ...next, after: installed.upTo });
  if (undone) return requestMore(turn, { ...next, after: "", undone: false, applied: 0 });
  addUp(turn, next);
};

/** A page of what a member has that is being restored itself: this peer's registry becomes the union of the two. */
const onOwnRegistry = (turn: Turn, transfer: Transfer, union: Union, offer: MessageOf<"SnapshotOffer">): void => {
  const { helper } = transfer;
  const { own } = offer;
  if (own === undefined || own.recoveryId !== union.sources[union.at]?.recoveryId)
    return waitFor(turn, `peer ${helper} is not in the life any more in which it was asked`);
  // Said once, with the first page: what a liar adds to each would never end.
  const known = offer.after === "" ? new Set([...union.voided, ...own.voided]) : union.voided;
  const installed = installUnion(turn, offer, { here: union.era, there: own.era }, known);
  if (installed === undefined)
    return waitFor(turn, `what peer ${helper} has does not hold, or contradicts what others have: ${OTHER_BACKUP}`);
  if (installed.isSeen) hide(turn);
  const { voided } = installed;
  const undone = transfer.undone || installed.undone;
  const next = { ...transfer, undone, applied: transfer.applied + installed.applied, movedAt: turn.elapsed };
  if (installed.upTo !== undefined)
    return requestMore(turn, { ...next, after: installed.upTo, union: { ...union, voided } });
  const done = { ...union, voided, at: union.at + 1, era: Math.max(union.era, own.era) };
  if (done.at < done.sources.length) return askSource(turn, done, undone);
  // What was taken away may have hidden something that is here.
  if (undone) return askSource(turn, { ...done, at: 0 }, false);
  addUp(turn, { ...next, union: done });
};

const addUp = (turn: Turn, transfer: Transfer): void => {
  const { recovery } = turn.state;
  if (recovery === undefined) return;
  const sum = { after: "", set: turn.context.crypto.emptySet, count: 0, revisions: 0, isSound: true };
  turn.state.recovery = { ...recovery, transfer: { ...transfer, sum } };
  recover(turn);
};

/** No read is served any more: what they would show is about to be another registry in parts. */
const hide = (turn: Turn): void => {
  const { recovery } = turn.state;
  if (recovery !== undefined) turn.state.recovery = { ...recovery, isReadable: false };
  if (turn.context.view.get("readable", SELF) !== undefined) turn.write({ op: "remove", table: "readable", key: SELF });
};

/** The registry of a member is here as a whole: reads are served, and everybody is asked again. */
const show = (turn: Turn, registry: PeerState["registry"], waitsFor: string): void => {
  const { restored } = turn.state;
  if (restored === undefined) return;
  turn.put("readable", SELF, { recoveryId: restored.restoration.recoveryId });
  turn.state.registry = registry;
  waitFor(turn, waitsFor);
  const { recovery } = turn.state;
  if (recovery !== undefined) turn.state.recovery = { ...recovery, isReadable: true };
};

/** Reads the registry as it is now on this disk, a part at a time, and holds it against what was offered. */
const sumUp = (turn: Turn, recovery: Recovery, transfer: Transfer, sum: Sum): void => {
  const { crypto, view } = turn.context;
  const page = view.scan("approvers", sum.after, SUM_ROWS);
  let { set, revisions, isSound } = sum;
  for (const { row } of page) {
    set = replaceApprover(crypto, set, undefined, row);
    revisions += row.revision;
    isSound &&= view.get("keys", row.keyIdentity)?.id === row.id;
  }
  const count = sum.count + page.length;
  const last = page.at(-1);
  if (last !== undefined && page.length === SUM_ROWS) {
    turn.state.recovery = {
      ...recovery,
      transfer: { ...transfer, sum: { after: last.key, set, count, revisions, isSound } },
    };
    return recover(turn);
  }
  // Every applied slot made one revision: the root alone does not show one left out that others built on.
  const isComplete = isSound && revisions === transfer.applied;
  if (transfer.union !== undefined) {
    if (!isComplete) return waitFor(turn, `what the members have contradicts itself: ${OTHER_BACKUP}`);
  } else if (!isComplete || crypto.setDigest(set) !== transfer.root || count !== transfer.count)
    return waitFor(turn, `what peer ${transfer.helper} offers does not come to its root`, transfer.helper);
  const registry = { set, approvers: count };
  if (transfer.isShared) finish(turn, registry);
  else show(turn, registry, UNASKED);
};

/** The one step in which the registry becomes visible and this peer a member like any other. */
const finish = (turn: Turn, registry: PeerState["registry"]): void => {
  const { restored, refused, highSeq } = turn.state;
  const { view } = turn.context;
  if (restored === undefined) return;
  turn.write({ op: "replace", table: "restore", key: SELF, row: { ...restored, recovering: false } });
  hide(turn);
  turn.state.registry = registry;
  turn.state.recovery = undefined;
  // Nobody votes further ahead. What the old life reserved there nobody knew, or it would be decided; its life is over.
  if (turn.isWriter) turn.state.highSeq = Math.min(highSeq, turn.state.decidedSeq + Limits.slotWindow - 1);
  turn.state.highProof = highProofOf(view, turn.membership, turn.state.highSeq);
  for (const each of refused.values())
    if (isDecided(turn, each.id, each.proposal)) forgetRefusal(turn, each.id);
    // What its old disk had bound was taken away with everything that is not final.
    else if (each.bindsSlot) turn.edit("refused").set(each.id, { ...each, bindsSlot: false });
  takeUp(turn);
};

const isDecided = (turn: Turn, id: Digest, proposal: { readonly epoch: number; readonly seq: number }): boolean =>
  decisionOf(turn.context.view, id, proposal) !== undefined;

/** What it was refused for has come to an end elsewhere, and that is what counts. */
const forgetRefusal = (turn: Turn, id: Digest): void => {
  turn.edit("refused").delete(id);
  turn.write({ op: "remove", table: "refusals", key: id });
};
