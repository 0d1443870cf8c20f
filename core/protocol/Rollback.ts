/**
 * A peer learns from its own signatures that its disk went back in time:
 * somebody shows it a statement that is not in its chain. Then it signs nothing
 * more until a restore is declared (protocol.md 4a, S22).
 */
import type { Recovery } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import type { Step } from "./Step.ts";
import { numberKey } from "./Tables.ts";
import { isAnnounced, type SignedRestoration } from "./Restoration.ts";
import {
  BATCH_TAG,
  batchHeaderCodec,
  isAuthentic,
  type SignedHeader,
  type SignedStatement,
  signerOf,
} from "./Statement.ts";

/**
 * Puts this peer in quarantine if one of the statements is its own and not in its memory. Returns whether it is in
 * quarantine, or is to begin another incarnation: then the message must not be acted on. A statement for another
 * topology proves nothing here, and nobody honest passes one on, so the rest is not looked at. That bounds the
 * signatures checked for one message.
 */
export const quarantineIfForgotten = (step: Step, statements: Iterable<SignedStatement>): boolean => {
  for (const signed of statements) {
    if (signerOf(signed) !== step.self) continue;
    if (!isAuthentic(step.context.crypto, step.membership, signed)) break;
    quarantineIfBehind(step, signed);
  }
  return step.state.fitness.quarantine !== undefined || step.state.rejoining.recovery?.superseded !== undefined;
};

/**
 * Puts this peer in quarantine if a header that it signed, at this incarnation or a later one, is not in its chain; a
 * peer that is being restored announces a higher one instead.
 */
export const quarantineIfBehind = (step: Step, seen: SignedHeader | undefined): void => {
  if (seen === undefined || seen.header.peerId !== step.self) return;
  const { header, signature } = seen;
  const { crypto, view } = step.context;
  const {
    signed: { chain },
    cluster: { peer },
    rejoining: { recovery },
  } = step.state;
  if (header.incarnation < chain.incarnation) return;
  if (view.get("batches", numberKey(header.batchNo))?.signature === signature) return;
  if (peer === undefined || !crypto.verify(peer.identityKey, BATCH_TAG, batchHeaderCodec, header, signature)) return;
  if (recovery !== undefined) return superseded(step, recovery, header.incarnation);
  step.quarantine(`this peer signed batch ${header.batchNo} and does not remember it`);
};

/** Another incarnation of this peer has this number: the one being announced must be higher. */
const superseded = (step: Step, recovery: Recovery, incarnation: number): void => {
  step.draft("rejoining").recovery = { ...recovery, superseded: Math.max(incarnation, recovery.superseded ?? 0) };
};

/**
 * Whether a member has this peer's own last restore on record; also true where neither knows of any. The same one in
 * another incarnation was announced with this peer's key, and not by what it remembers.
 */
export const isOwnRestore = (
  { rejoining: { restored } }: Pick<PeerState, "rejoining">,
  recorded: SignedRestoration | undefined,
): boolean =>
  recorded?.restoration.recoveryId === restored?.restoration.recoveryId &&
  recorded?.restoration.incarnation === restored?.restoration.incarnation;

/**
 * A member that has a later incarnation of this peer on record, or another one of the same number, shows that this disk
 * is from before a restore: that puts the peer in quarantine. If it is being restored just now (its clock was set
 * back), it announces a higher one instead.
 */
export const quarantineIfRestoredSince = (step: Step, recorded: SignedRestoration | undefined): void => {
  const {
    rejoining: { recovery },
    signed: { chain },
  } = step.state;
  if (recorded === undefined || isOwnRestore(step.state, recorded)) return;
  const { peerId, incarnation } = recorded.restoration;
  if (peerId !== step.self || incarnation < chain.incarnation) return;
  if (!isAnnounced(step.context.crypto, step.membership, recorded)) return;
  if (recovery !== undefined) superseded(step, recovery, incarnation);
  else step.quarantine(`this peer was restored as incarnation ${incarnation} and does not remember it`);
};
