/**
 * S65: nobody can have a peer abort without end. It refuses no more proposals than it may at once, and after that one a
 * second, and one for each change that is applied meanwhile; what it has prepared it pledges on beside that. No writer
 * says that it has no room before that is so, of all that was aborted or of one actor's.
 */
import type { Rejection } from "../../core/base/Rejection.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Of the service. */
const OF_SERVICE = { aborts: 4096, abortsOfActor: 256, preparations: 256 };
const MILLIS_EACH = 1_000;

/** Requests that were turned away, remembered at least. */
const REMEMBERED = 512;
const OF_ALL = /^Too many changes were refused/u;
const OF_ACTOR = /^Too many changes under this subject/u;

/** Of what has been aborted of late, the milliseconds that it still counts, as of a moment in milliseconds. */
class Room {
  #counting = 0;
  #asOf = 0;

  /** How many count. */
  takenAt(millis: number): number {
    this.#counting = Math.max(0, this.#counting - Math.max(0, millis - this.#asOf));
    this.#asOf = Math.max(this.#asOf, millis);
    return this.#counting / MILLIS_EACH;
  }

  take(millis: number): number {
    this.takenAt(millis);
    this.#counting += MILLIS_EACH;
    return this.#counting / MILLIS_EACH;
  }

  giveBack(millis: number): void {
    this.takenAt(millis);
    this.#counting = Math.max(0, this.#counting - MILLIS_EACH);
  }
}

/** What one process has aborted: all of it, and for the writer by actor. */
class Memory {
  readonly all = new Room();
  readonly ofActors = new Map<string, Room>();
}

export const S65 = (ghost: Ghost): Checker => {
  const most = { ...OF_SERVICE, ...ghost.capacities };
  const memories: Array<Memory | undefined> = [];
  const counted = new Set<string>();
  const aborted = new Set<string>();
  const turnedAway = new RecentMap<true>(REMEMBERED);
  const memoryOf = (slot: number): Memory => (memories[slot] ??= new Memory());
  const millisOf = ({ decidedAt }: Watched): number => Math.floor(decidedAt / 1_000);
  /** One whose disk came back takes over what others have aborted, and votes on it anew. */
  const isJudged = ({ slot, honest }: Watched): boolean => honest && (ghost.restored & maskOf(slot)) === 0;
  const actorOf = (id: Digest): string => {
    const { iss, sub } = ghost.proposals.get(id)?.proposal.actor ?? {};
    return JSON.stringify([iss ?? "", sub]);
  };

  /** Its first vote on a proposal that can only end in an abort. */
  const note = (peer: Watched, id: string, room: number): void => {
    const name = `${peer.slot} ${id}`;
    if (counted.has(name)) return;
    counted.add(name);
    const taken = memoryOf(peer.slot).all.take(millisOf(peer));
    if (isJudged(peer) && taken > room)
      throw new Violation(
        "S65",
        `peer ${peer.slot} may help to abort ${most.aborts} proposals at once, and one more a second`,
        `it has done so with ${Math.ceil(taken)}, ${id} among them`,
      );
  };
  const noteAborted = (peer: Watched, id: Digest): void => {
    note(peer, id, most.aborts + most.preparations);
    const name = `${peer.slot} ${id}`;
    if (aborted.has(name)) return;
    aborted.add(name);
    const { ofActors } = memoryOf(peer.slot);
    const actor = actorOf(id);
    const room = ofActors.get(actor) ?? new Room();
    ofActors.set(actor, room);
    room.take(millisOf(peer));
  };

  /** A copy of a request is told later what the first was. */
  const assertFull = (peer: Watched, requestId: string, { detail }: Rejection): void => {
    const isOfActor = OF_ACTOR.test(detail);
    if ((!isOfActor && !OF_ALL.test(detail)) || turnedAway.get(requestId) !== undefined) return;
    turnedAway.set(requestId, true);
    const { all, ofActors } = memoryOf(peer.slot);
    const rooms = isOfActor ? [...ofActors.values()] : [all];
    const taken = Math.max(0, ...rooms.map((room) => room.takenAt(millisOf(peer))));
    if (isJudged(peer) && taken + 1 <= (isOfActor ? most.abortsOfActor : most.aborts))
      throw new Violation(
        "S65",
        `peer ${peer.slot} turned request ${requestId} away: ${detail}`,
        `it has helped to abort ${Math.ceil(taken)} of late`,
      );
  };
  const forget = ({ slot }: Watched): void => void (memories[slot] = undefined);
  return {
    id: "S65",
    booted: forget,
    stopped: forget,
    sent: (peer, message) => {
      if (message._tag !== "Outcome" || message.outcome._tag !== "Rejected") return;
      assertFull(peer, message.requestId, message.outcome.rejection);
    },
    replied: (peer, { requestId, answer }) => {
      if (answer._tag === "Rejected" && peer.slot === ghost.membership?.writer)
        assertFull(peer, requestId, answer.rejection);
    },
    written: {
      refusals: (peer, write) => {
        if (write.op === "insert") note(peer, write.key, most.aborts);
      },
      preparations: (peer, write) => {
        if (write.op !== "remove" && write.row.pledge !== undefined)
          note(peer, write.key, most.aborts + most.preparations);
      },
      slots: (peer, write) => {
        if (write.op !== "remove" && write.row.outcome === "ABORTED") noteAborted(peer, write.row.proposalId);
      },
      strays: (peer, write) => {
        if (write.op !== "remove") noteAborted(peer, write.key as Digest);
      },
      certificates: (peer, write) => {
        if (write.op === "insert") memoryOf(peer.slot).all.giveBack(millisOf(peer));
      },
    },
  };
};
