/**
 * A peer learns from its own signatures that its disk went back in time: somebody
 * shows it a statement that is not in its chain. Then it signs nothing more until
 * it is restored as one that was (protocol.md 3.1, S22).
 */
import type { Turn } from "../Turn.ts";
import { numberKey } from "../Tables.ts";
import {
  BATCH_TAG,
  batchHeaderCodec,
  isAuthentic,
  type SignedHeader,
  type SignedStatement,
  signerOf,
} from "./Statement.ts";

/**
 * Puts this peer in quarantine if one of the statements is its own and not in its memory; says whether it is in.
 * A statement made for another topology says nothing here; nobody honest passes one on, so the rest is not looked at,
 * which bounds the signatures that one message can have checked.
 */
export const quarantineIfForgotten = (turn: Turn, statements: Iterable<SignedStatement>): boolean => {
  for (const signed of statements) {
    if (signerOf(signed) !== turn.self) continue;
    if (!isAuthentic(turn.context.crypto, turn.membership, signed)) break;
    quarantineIfBehind(turn, signed);
  }
  return turn.state.quarantine !== undefined;
};

/** Puts this peer in quarantine if a header that it signed, at this incarnation or a later one, is not in its chain. */
export const quarantineIfBehind = (turn: Turn, seen: SignedHeader | undefined): void => {
  if (seen === undefined || seen.header.peerId !== turn.self) return;
  const { header, signature } = seen;
  const { crypto, view } = turn.context;
  const { chain, peer } = turn.state;
  if (header.incarnation < chain.incarnation) return;
  const stored = header.incarnation === chain.incarnation ? view.get("batches", numberKey(header.batchNo)) : undefined;
  if (stored?.signature === signature && stored.header.root === header.root) return;
  if (peer !== undefined && crypto.verify(peer.identityKey, BATCH_TAG, batchHeaderCodec, header, signature))
    turn.quarantine(`this peer signed batch ${header.batchNo} and does not remember it`);
};
