/**
 * K1: no nonce serves two messages. A pair of nonces that an honest peer has committed to belongs to one session of one
 * process, and one share at most comes of it, however often that is said. Once it has left, its nonces are in no memory.
 */
import { RecentMap } from "../../runtime/RecentMap.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { sessionOf } from "./Signing.ts";

/** Pairs remembered at least: sessions last ten seconds. */
const REMEMBERED = 8_192;

interface Committed {
  readonly slot: number;
  readonly process: number;
  readonly session: string;
}

interface Pair {
  readonly hiding: string;
  readonly binding: string;
}

/** What a signer keeps in memory of sessions that are open. */
interface Slice {
  readonly sessions: ReadonlyMap<string, { readonly commitments: Pair }>;
}

export const K1 = (ghost: Ghost): Checker => {
  const committed = new RecentMap<Committed>(REMEMBERED);
  /** By slot and session: the pair that the peer has committed to there. */
  const pairs = new RecentMap<string>(REMEMBERED);
  /** By pair: what came of it. */
  const shares = new RecentMap<string>(REMEMBERED);
  const packages = new RecentMap<string>(REMEMBERED);
  const commit = ({ slot, process }: Watched, session: string, { hiding, binding }: Pair): void => {
    for (const nonce of [hiding, binding]) {
      const known = committed.get(nonce);
      if (known !== undefined && (known.slot !== slot || known.process !== process || known.session !== session))
        throw new Violation(
          "K1",
          `process ${known.process} of peer ${known.slot} committed to a nonce in session ${known.session}`,
          `process ${process} of peer ${slot} commits to it in session ${session}`,
        );
      committed.set(nonce, { slot, process, session });
    }
    pairs.set(`${slot} ${session}`, hiding);
  };
  const once = (all: RecentMap<string>, slot: number, nonce: string, said: string, what: string): void => {
    const before = all.get(nonce);
    if (before !== undefined && before !== said)
      throw new Violation("K1", `peer ${slot} had used a nonce for one ${what}`, `it uses it for another ${what}`);
    all.set(nonce, said);
  };
  const indexOf = (slot: number): number | undefined =>
    ghost.membership?.topology.members.find(({ peerId }) => peerId === slot)?.shareIndex;
  return {
    id: "K1",
    sent: (peer, message, to) => {
      const { slot } = peer;
      if (ghost.isLying(slot)) return;
      if (message._tag === "Sign.Commit") commit(peer, sessionOf(to, message.sessionId), message.commitments);
      // A coordinator that signs commits to its own where it tells the others of all.
      if (message._tag === "Sign.Package")
        for (const { sessionId, commitments, messageDigest } of message.items) {
          const own = commitments.find(({ index }) => index === indexOf(slot));
          if (own === undefined) continue;
          commit(peer, sessionOf(slot, sessionId), own);
          once(packages, slot, own.hiding, JSON.stringify([commitments, messageDigest]), "package");
        }
      if (message._tag === "Sign.Share")
        for (const { sessionId, scalar } of message.items) {
          const nonce = pairs.get(`${slot} ${sessionOf(to, sessionId)}`);
          if (nonce === undefined)
            throw new Violation("K1", `peer ${slot} committed to no nonce in session ${sessionId}`, "its share leaves");
          const process = committed.get(nonce)?.process;
          if (process !== peer.process)
            throw new Violation(
              "K1",
              `process ${process} of peer ${slot} committed to a nonce in session ${sessionId}`,
              `process ${peer.process} of it tells a share`,
            );
          once(shares, slot, nonce, scalar, "share");
        }
    },
    stepped: ({ slot, state }) => {
      const slice = state?.modules["signing"] as Slice | undefined;
      if (slice === undefined || ghost.isLying(slot)) return;
      for (const [session, { commitments }] of slice.sessions)
        if (shares.get(commitments.hiding) !== undefined)
          throw new Violation("K1", `peer ${slot} has told its share of session ${session}`, "it keeps the nonces");
    },
  };
};
