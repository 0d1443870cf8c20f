/**
 * A peer learns from its own signatures that its disk went back in time: somebody
 * shows it a statement that is not in its chain. Then it signs nothing more until
 * it is restored as one that was (protocol.md 3.1, S22).
 */
import type { Turn } from "../Turn.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";

/** Puts this peer in quarantine if one of the statements is its own and newer than its memory; says whether it is in. */
export const quarantineIfForgotten = (turn: Turn, statements: Iterable<SignedStatement>): boolean => {
  const { chain } = turn.state;
  for (const signed of statements) {
    const { incarnation, batchNo } = signed.header;
    if (signerOf(signed) !== turn.self || incarnation !== chain.incarnation || batchNo <= chain.batchNo) continue;
    if (isAuthentic(turn.context.crypto, turn.membership, signed))
      turn.quarantine(`this peer signed batch ${batchNo} and does not remember it`);
  }
  return turn.state.quarantine !== undefined;
};
