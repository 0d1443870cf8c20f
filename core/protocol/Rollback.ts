/**
 * A peer learns from its own signatures that its disk went back in time: somebody
 * shows it a statement that is not in its chain. Then it signs nothing more until
 * it is restored as one that was (protocol.md 4a, S22).
 */
import type { Recovery } from "./RecoveryState.ts";
import type { PeerState } from "./PeerState.ts";
import type { Turn } from "./Turn.ts";
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
 * Puts this peer in quarantine if one of the statements is its own and not in its memory; says whether it is in, or is
 * to begin another life, so that the message must not be acted on.
 * A statement made for another topology says nothing here; nobody honest passes one on, so the rest is not looked at,
 * which bounds the signatures that one message can have checked.
 */
export const quarantineIfForgotten = (turn: Turn, statements: Iterable<SignedStatement>): boolean => {
  for (const signed of statements) {
    if (signerOf(signed) !== turn.self) continue;
    if (!isAuthentic(turn.context.crypto, turn.membership, signed)) break;
    quarantineIfBehind(turn, signed);
  }
  return turn.state.standing.quarantine !== undefined || turn.state.rejoining.recovery?.outbid !== undefined;
};

/**
 * Puts this peer in quarantine if a header that it signed, at this incarnation or a later one, is not in its chain; a
 * peer that is being restored announces a higher one instead.
 */
export const quarantineIfBehind = (turn: Turn, seen: SignedHeader | undefined): void => {
  if (seen === undefined || seen.header.peerId !== turn.self) return;
  const { header, signature } = seen;
  const { crypto, view } = turn.context;
  const {
    signed: { chain },
    cluster: { peer },
    rejoining: { recovery },
  } = turn.state;
  if (header.incarnation < chain.incarnation) return;
  if (view.get("batches", numberKey(header.batchNo))?.signature === signature) return;
  if (peer === undefined || !crypto.verify(peer.identityKey, BATCH_TAG, batchHeaderCodec, header, signature)) return;
  if (recovery !== undefined) return outbid(turn, recovery, header.incarnation);
  turn.quarantine(`this peer signed batch ${header.batchNo} and does not remember it`);
};

/** Another life of this peer has this incarnation: the one that it announces just now has to have a higher one. */
const outbid = (turn: Turn, recovery: Recovery, incarnation: number): void => {
  turn.draft("rejoining").recovery = { ...recovery, outbid: Math.max(incarnation, recovery.outbid ?? 0) };
};

/** Whether what a member has on record is this peer's own last restore; or neither knows of any. */
export const isOwnRestore = (
  { rejoining: { restored } }: Pick<PeerState, "rejoining">,
  recorded: SignedRestoration | undefined,
): boolean => recorded?.restoration.recoveryId === restored?.restoration.recoveryId;

/**
 * A member that has a later incarnation of this peer on record, or another one of the same number, shows that this disk
 * is from before a restore: that puts the peer in quarantine, or makes it announce a higher one if it is being restored
 * just now (its clock was set back).
 */
export const quarantineIfRestoredSince = (turn: Turn, recorded: SignedRestoration | undefined): void => {
  const {
    rejoining: { recovery },
    signed: { chain },
  } = turn.state;
  if (recorded === undefined || isOwnRestore(turn.state, recorded)) return;
  const { peerId, incarnation } = recorded.restoration;
  if (peerId !== turn.self || incarnation < chain.incarnation) return;
  if (!isAnnounced(turn.context.crypto, turn.membership, recorded)) return;
  if (recovery !== undefined) outbid(turn, recovery, incarnation);
  else turn.quarantine(`this peer was restored as incarnation ${incarnation} and does not remember it`);
};
