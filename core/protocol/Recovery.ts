/**
 * A declared restore: this peer's disk is older than its own statements, or may be. The peer drops everything
 * undecided, announces a new incarnation, and signs nothing until every other member has that on record. Then it may
 * refuse what its old incarnation left open, but votes for nothing and applies nothing: it takes the registry as it is
 * at members that were not restored, compares the result, and is one of them again (protocol.md 4f, 4i; S21, S26).
 */
import type { Recovery } from "./RecoveryState.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";
import { dropUndecided } from "./Lifecycle.ts";
import { freshNonce, nonceFor } from "./Nonces.ts";
import { noteSlot } from "./Slots.ts";
import { SELF } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { auditOperators } from "./Audit.ts";
import { forgetPendingCallers } from "./PendingCallers.ts";
import { inquireAgain, isMisled } from "./Inquiry.ts";
import { join } from "./Joining.ts";
import type { Ready } from "./Message.ts";
import { ask } from "./Readiness.ts";
import { type Restoration, restorationCodec, RESTORATION_TAG, restorationHash } from "./Restoration.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { isAuthentic, signerOf } from "./Statement.ts";
import {
  askSource,
  freshRecovery,
  freshTransfer,
  hide,
  recover,
  requestMore,
  sumUp,
  sweepOn,
  waitFor,
} from "./TakingOver.ts";
import { type PeerId, signersFor } from "./Topology.ts";
import { diskHere } from "./UnionPages.ts";
import { BEING_VERIFIED, IS_SEALED } from "./Unavailable.ts";

const RECOVER_MILLIS = 500;
/** How long a round waits for the answers of all members. */
const ROUND_MILLIS = 2_000;
/** When a page is asked for again, and when the helper is given up. */
const ASK_AGAIN_MILLIS = 1_000;
const SILENT_MILLIS = 5_000;

const UNRECORDED = "not every member has the restore on record yet";

// Declaring.

const declareRefusal = ({ state }: Step): Rejection | undefined => {
  const {
    cluster: { peer, membership },
    fitness: { integrityFault },
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
      "If this peer was promoted since, let it reach its peers: they show it that, and then the restore can be declared. Else nobody can say what a backup of it lacks; register again what is missing.",
    );
  return undefined;
};

/**
 * Begins at once, or with the unseal where this peer is sealed, or with its topology where its disk is from before
 * that: before the peer can sign anything in its old incarnation.
 */
export const onDeclareRestore = (step: Step, requestId: string, acts?: ReadonlyArray<NumberedAct>): void => {
  const refusal = declareRefusal(step);
  if (refusal !== undefined) return step.reply(requestId, { _tag: "Rejected", rejection: refusal });
  if (!step.state.fitness.unsealed || step.state.cluster.membership === undefined) {
    step.draft("rejoining").isDeclared = true;
    return step.reply(requestId, { _tag: "Restoring", incarnation: undefined });
  }
  begin(step, 0);
  auditOperators(step, acts);
  step.reply(requestId, { _tag: "Restoring", incarnation: step.state.signed.chain.incarnation });
};

/** The peer was unsealed, or was shown its topology: carries out what was declared before. */
export const beginDeclared = (step: Step): void => {
  if (!step.state.rejoining.isDeclared || step.state.cluster.membership === undefined) return;
  step.draft("rejoining").isDeclared = false;
  if (declareRefusal(step) === undefined) begin(step, 0);
};

/** A member has an equal or higher incarnation of this peer on record: the peer takes one above that. */
export const raiseIfSuperseded = (step: Step): void => {
  const superseded = step.state.rejoining.recovery?.superseded;
  if (superseded !== undefined) begin(step, superseded);
};

/** Starts a new incarnation, however far the last one had come. */
const begin = (step: Step, above: number): void => {
  const { signer, crypto, now } = step.context;
  if (signer === undefined) return;
  forgetPendingCallers(step, "it is recovering");
  const {
    signed: { chain },
    rejoining: { restored },
  } = step.state;
  const restoration: Restoration = {
    version: step.version,
    topologyDigest: step.membership.digest,
    peerId: step.self,
    incarnation: Math.max(now, 1 + Math.max(above, chain.incarnation)),
    recoveryId: freshNonce(step, "recovery"),
  };
  const signature = signer.sign(RESTORATION_TAG, restorationCodec, restoration);
  const op = restored === undefined ? "insert" : "replace";
  const incarnations = step.context.view.get("restore", SELF)?.incarnations ?? [];
  step.write({ op, table: "restore", key: SELF, row: { restoration, signature, recovering: true, incarnations } });
  dropUndecided(step);
  hide(step);
  step.draft("rejoining").restored = { restoration, signature };
  step.draft("signed").chain = {
    incarnation: restoration.incarnation,
    batchNo: chain.batchNo,
    hash: restorationHash(crypto, restoration),
  };
  step.draft("fitness").quarantine = undefined;
  step.draft("rejoining").recovery = freshRecovery(UNRECORDED);
  step.draft("rejoining").unproven = new Set(step.others);
  step.draft("rejoining").joinNonce = undefined;
  join(step);
  recover(step);
};

// Asking all.

export const onRecoverTimer = (step: Step): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery === undefined) return;
  step.arm("recover", RECOVER_MILLIS);
  // Every refusal is final in the incarnation that made it; another incarnation has made none.
  if (step.mode === "recovering" && isMisled(step)) return begin(step, 0);
  const { transfer } = recovery;
  if (step.mode === "announcing" && transfer?.isShared === true) return waitFor(step, UNRECORDED);
  if (transfer?.sweep !== undefined) return sweepOn(step, recovery, transfer, transfer.sweep);
  if (transfer?.sum !== undefined) return sumUp(step, recovery, transfer, transfer.sum);
  if (transfer !== undefined && transfer.askedAt === undefined) return requestMore(step, transfer);
  inquireAgain(step, recovery);
  if (transfer?.askedAt === undefined) return askAll(step, recovery);
  if (step.elapsed - transfer.movedAt >= SILENT_MILLIS)
    return waitFor(step, `peer ${transfer.helper} does not go on with its offer`, transfer.helper);
  if (step.elapsed - transfer.askedAt >= ASK_AGAIN_MILLIS) requestMore(step, transfer);
};

const askAll = (step: Step, recovery: Recovery): void => {
  if (recovery.nonce !== undefined) {
    if (step.elapsed - recovery.startedAt < ROUND_MILLIS) return;
    showWhile(step, recovery, step.mode === "announcing" ? UNRECORDED : silentOnes(step, recovery));
  }
  const current = step.state.rejoining.recovery;
  if (current === undefined || current.transfer !== undefined) return;
  const nonce = freshNonce(step, "members");
  step.draft("rejoining").recovery = { ...current, nonce, startedAt: step.elapsed, answers: new Map() };
  ask(step, nonce, step.others);
};

const silentOnes = (step: Step, { answers }: Recovery): string =>
  step.others
    .filter((peerId) => !answers.has(peerId))
    .map((peerId) => `peer ${peerId} does not answer`)
    .join("; ");

/** A member's answer to a recovering peer. */
export const onMemberAnswer = (step: Step, from: PeerId, ready: Ready): void => {
  const {
    rejoining: { recovery },
  } = step.state;
  if (recovery?.nonce === undefined || recovery.transfer !== undefined) return;
  if (ready.peerId !== from || recovery.answers.has(from)) return;
  if (ready.nonce !== nonceFor(step, recovery.nonce, from)) return;
  const answers = new Map(recovery.answers).set(from, ready);
  const answered = { ...recovery, answers };
  step.draft("rejoining").recovery = answered;
  if (answers.size === step.others.length) conclude(step, answered);
};

/** Why nothing can be taken over yet because of this member, or undefined. */
const hindrance = (step: Step, ready: Ready): string | undefined => {
  if (ready.sealed) return ready.mode === "verifying" ? BEING_VERIFIED : IS_SEALED;
  if (!ready.integrityOk) return "its stored records do not hold";
  if (ready.topologyDigest !== step.membership.digest) return "it belongs to another topology";
  if (ready.recorded?.restoration.recoveryId !== step.state.rejoining.restored?.restoration.recoveryId)
    return "it has not recorded the restore";
  if (!isOffering(ready) && ready.mode !== "recovering") return `it is ${ready.mode}`;
  return (
    promotedFault(step, ready) ??
    (ready.mode === "active" && ready.uncommitted > 0 ? "something is undecided there" : undefined)
  );
};

/** Whether it has the registry; the source of a promotion has it before it is a member like any other. */
const isOffering = ({ mode }: Ready): boolean => mode === "active" || mode === "promoting";

/** The source has pinned one registry, and the targets have signed for that. */
const promotedFault = (step: Step, ready: Ready): string | undefined => {
  const { bound } = step.state.cluster.promotion;
  if (ready.mode !== "promoting" || bound === undefined) return undefined;
  const { root, approvers } = bound.draft;
  return ready.registryRoot === root && ready.approvers === approvers
    ? undefined
    : "its registry is not the one that was promised";
};

const DIFFERENT = "the other members do not have the same registry yet";

/** All have answered: takes the registry of an active member, if all active members have the same. */
const conclude = (step: Step, recovery: Recovery): void => {
  const answers = [...recovery.answers.values()];
  for (const ready of answers) noteHighest(step, ready);
  if (step.mode === "announcing") return showWhile(step, recovery, UNRECORDED);
  for (const ready of answers) {
    const found = hindrance(step, ready);
    if (found !== undefined) return showWhile(step, recovery, `peer ${ready.peerId}: ${found}`);
  }
  const offering = answers.filter(isOffering);
  if (offering.length === 0) return uniteAll(step, recovery, answers);
  if (!isOneRegistry(offering)) return waitFor(step, DIFFERENT);
  takeOver(step, recovery, offering, true);
};

/**
 * Every member is being restored, and all have all incarnations on record. Then nobody is a member again before the
 * writer: a new incarnation makes the others ask anew, and every active answer is from before its sender's restore.
 */
const uniteAll = (step: Step, recovery: Recovery, answers: ReadonlyArray<Ready>): void => {
  const { writer } = step.membership;
  if (!step.isWriter)
    return waitFor(step, `every member is being restored: peer ${writer}, the writer, puts together what they have`);
  const sources = answers.flatMap(({ peerId, restored }) =>
    restored === undefined ? [] : [{ peerId, recoveryId: restored.restoration.recoveryId }],
  );
  step.draft("rejoining").recovery = recovery;
  askSource(step, { sources, at: 0, disks: [diskHere(step)], looks: [], united: undefined }, false);
};

const isOneRegistry = ([first, ...others]: ReadonlyArray<Ready>): boolean =>
  others.every((each) => each.registryRoot === first?.registryRoot && each.approvers === first.approvers);

/**
 * Not every member can be asked: this peer cannot take part, but reads wait for nobody (contract 10.1). A member that
 * was not restored, has nothing undecided and has this incarnation on record, has all approvers until this peer votes
 * again: any certificate without this incarnation needed that member's receipt. So its registry may be shown.
 */
const showWhile = (step: Step, recovery: Recovery, waitsFor: string): void => {
  const offering = [...recovery.answers.values()].filter(
    (ready) =>
      isOffering(ready) && !step.state.rejoining.unproven.has(ready.peerId) && hindrance(step, ready) === undefined,
  );
  if (recovery.isReadable || offering.length === 0) return waitFor(step, waitsFor);
  if (!isOneRegistry(offering)) return waitFor(step, DIFFERENT);
  takeOver(step, recovery, offering, false);
};

const takeOver = (step: Step, recovery: Recovery, offering: ReadonlyArray<Ready>, isShared: boolean): void => {
  const trusted = offering.filter((each) => !recovery.distrusted.has(each.peerId));
  if (trusted.length === 0) step.draft("rejoining").recovery = { ...recovery, distrusted: new Set() };
  const chosen = trusted[0] ?? offering[0];
  if (chosen === undefined) return;
  const { peerId: helper, registryRoot: root, approvers: count } = chosen;
  const reach = reachWithout(recovery, helper);
  requestMore(step, freshTransfer(step, { helper, root, count, isShared, reach }));
};

/** The highest slot of the other active members; one that is being restored may have it from whoever lies. */
const reachWithout = ({ answers }: Recovery, helper: PeerId): number | undefined => {
  const known = [...answers.values()].filter((ready) => ready.peerId !== helper && isOffering(ready));
  return known.length === 0 ? undefined : Math.max(...known.map(({ highSeq }) => highSeq));
};

/** A restored writer must not reuse a slot that somebody has seen it use. */
const noteHighest = (step: Step, { highSeq, highSeqProof: proof }: Ready): void => {
  if (proof === undefined || highSeq <= step.state.undecided.highSeq || proof.statement.seq !== highSeq) return;
  const members = signersFor(step.membership, proof.statement);
  if (members === undefined || proof.statement.kind !== "RECEIPT" || signerOf(proof) !== members.writer) return;
  if (isAuthentic(step.context.crypto, members, proof)) noteSlot(step, highSeq, proof);
};
