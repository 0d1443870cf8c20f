/**
 * A peer learns from its own signatures that its disk went back in time: somebody
 * shows it a statement that is not in its chain. Then it signs nothing more until
 * it is restored as one that was (protocol.md 4a, S22).
 */
import type { Recovery } from "../PeerState.ts";
import type { Turn } from "../Turn.ts";
import { numberKey } from "../Tables.ts";
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
  return turn.state.quarantine !== undefined || turn.state.recovery?.outbid !== undefined;
};

/**
 * Puts this peer in quarantine if a header that it signed, at this incarnation or a later one, is not in its chain; a
 * peer that is being restored announces a higher one instead.
 */
export const quarantineIfBehind = (turn: Turn, seen: SignedHeader | undefined): void => {
  if (seen === undefined || seen.header.peerId !== turn.self) return;
  const { header, signature } = seen;
  const { crypto, view } = turn.context;
  const { chain, peer, recovery } = turn.state;
  if (header.incarnation < chain.incarnation) return;
  if (view.get("batches", numberKey(header.batchNo))?.signature === signature) return;
  if (peer === undefined || !crypto.verify(peer.identityKey, BATCH_TAG, batchHeaderCodec, header, signature)) return;
  if (recovery !== undefined) return outbid(turn, recovery, header.incarnation);
  turn.quarantine(`this peer signed batch ${header.batchNo} and does not remember it`);
};

/** Another life of this peer has this incarnation: the one that it announces just now has to have a higher one. */
const outbid = (turn: Turn, recovery: Recovery, incarnation: number): void => {
  turn.state.recovery = { ...recovery, outbid: Math.max(incarnation, recovery.outbid ?? 0) };
};

/**
 * Whether a member has exactly this life of this peer on record. One it knows of a later life, or of another one of
 * the same number, shows that this disk is from before a restore: that puts the peer in quarantine, or makes it
 * announce a higher one if it is being restored just now (its clock was set back).
 */
export const isKnownLife = (turn: Turn, recorded: SignedRestoration | undefined): boolean => {
  const { restored, recovery } = turn.state;
  if (recorded?.restoration.recoveryId === restored?.restoration.recoveryId) return true;
  const theirs = recorded?.restoration.incarnation ?? 0;
  if (recorded === undefined || recorded.restoration.peerId !== turn.self || theirs < turn.state.chain.incarnation)
    return false;
  if (!isAnnounced(turn.context.crypto, turn.membership, recorded)) return false;
  if (recovery !== undefined) outbid(turn, recovery, theirs);
  else turn.quarantine(`this peer was restored as incarnation ${theirs} and does not remember it`);
  return false;
};
