/**
 * S48: a link loses nothing by itself. What is sent on it departs in the order of its lane, once, or is dropped for want
 * of room: of a round the oldest, of bulk the newest; and nothing waits on a link that has nothing under way. A message
 * is answered once, and its answer is for its sender.
 */
import type { Lane } from "../../core/protocol/Lane.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Letter } from "../network/Letter.ts";
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

interface Way {
  readonly waiting: { readonly [L in Lane]: Array<Letter> };
  underWay: number;
}

const broken = (slot: number, to: PeerId, before: string, now: string): never => {
  throw new Violation("S48", `on the link of peer ${slot} to peer ${to} ${before}`, now);
};

export const S48 = (): Checker => {
  /** By slot and the id of the other peer, of the process that runs. */
  const ways: Array<Map<PeerId, Way>> = [];
  const wayOf = (slot: number, to: PeerId): Way => {
    const own = (ways[slot] ??= new Map<PeerId, Way>());
    let way = own.get(to);
    if (way === undefined) {
      way = { waiting: { round: [], bulk: [] }, underWay: 0 };
      own.set(to, way);
    }
    return way;
  };
  const assertMoving = (slot: number, to: PeerId, { waiting: { round, bulk }, underWay }: Way): void => {
    const count = round.length + bulk.length;
    if (underWay === 0 && count > 0) broken(slot, to, `${count} messages wait`, "nothing is under way");
  };
  return {
    id: "S48",
    stopped: ({ slot }) => void ways[slot]?.clear(),
    linked: ({ slot }, to, what, letter, isAgain) => {
      const way = wayOf(slot, to);
      const waiting = way.waiting[letter.lane];
      if (what === "over") {
        way.underWay -= 1;
      } else if (what === "sent") {
        assertMoving(slot, to, way);
        waiting.push(letter);
      } else {
        way.underWay += 1;
        if (!isAgain && waiting.shift() !== letter)
          broken(slot, to, `a message of its ${letter.lane} departs`, "it is not the oldest of those that wait");
      }
    },
    droppedUnsent: ({ slot }, letter, most) => {
      const { to, lane } = letter;
      const waiting = wayOf(slot, to).waiting[lane];
      const { length } = waiting;
      const dropped = lane === "round" ? waiting.shift() : waiting.pop();
      if (length <= most) broken(slot, to, `a message of its ${lane} is dropped`, `${length} wait, and ${most} may`);
      if (dropped !== letter) broken(slot, to, `a message of its ${lane} is dropped`, "it is the turn of another one");
    },
    answering: ({ slot }, asker, letter, isFirst) => {
      if (letter.to !== asker || !isFirst)
        throw new Violation(
          "S48",
          `peer ${slot} keeps open what peer ${asker} has sent it`,
          isFirst ? `it sends peer ${letter.to} a message as the answer` : "it answers it a second time",
        );
    },
    swept: () => {
      for (const [slot, own] of ways.entries()) for (const [to, way] of own ?? []) assertMoving(slot, to, way);
    },
  };
};
