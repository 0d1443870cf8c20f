/**
 * S48: a link loses nothing by itself. What is sent on it departs in the order of its lane, once, or is dropped for want
 * of room: of a round the oldest, of bulk the newest. As many are under way as may be, and no more; nothing waits where
 * there is room. A link says of the other peer what the last exchange has shown. A message is answered once, and its
 * answer is for its sender.
 */
import type { Lane } from "../../core/protocol/Lane.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { ExchangeEnd, LinkLimits } from "../../runtime/transport/Link.ts";
import type { Letter } from "../network/Letter.ts";
import type { Checker, LinkSaid } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

interface Way {
  readonly waiting: { readonly [L in Lane]: Array<Letter> };
  readonly underWay: { [L in Lane]: number };
  limits: LinkLimits | undefined;
}

/** Whether one more may be under way, so that none has to wait. */
const hasRoom = (lane: Lane, { round, bulk }: Way["underWay"], limits: LinkLimits): boolean => {
  const free = limits.connections - round - bulk;
  return free > 0 && (lane === "round" || limits.connections - limits.roundConnections > bulk);
};

/** What a link has to say after an exchange. */
const expected: Readonly<Record<ExchangeEnd, LinkSaid>> = {
  taken: { isReachable: true, dropped: undefined },
  refused: { isReachable: true, dropped: "refused" },
  unreachable: { isReachable: false, dropped: "unreachable" },
  stale: { isReachable: false, dropped: "unreachable" },
};

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
      way = { waiting: { round: [], bulk: [] }, underWay: { round: 0, bulk: 0 }, limits: undefined };
      own.set(to, way);
    }
    return way;
  };
  const assertMoving = (slot: number, to: PeerId, { waiting, underWay, limits }: Way): void => {
    for (const lane of ["round", "bulk"] as const)
      if (waiting[lane].length > 0 && limits !== undefined && hasRoom(lane, underWay, limits))
        broken(
          slot,
          to,
          `${waiting[lane].length} messages of its ${lane} wait`,
          `${underWay.round + underWay.bulk} are under way, and ${limits.connections} may be`,
        );
  };
  return {
    id: "S48",
    stopped: ({ slot }) => void ways[slot]?.clear(),
    linked: ({ slot }, to, what, letter, isAgain, limits) => {
      const way = wayOf(slot, to);
      const { lane } = letter;
      const { underWay } = way;
      way.limits = limits;
      if (what === "over") {
        underWay[lane] -= 1;
      } else if (what === "sent") {
        assertMoving(slot, to, way);
        way.waiting[lane].push(letter);
      } else {
        if (!hasRoom(lane, underWay, limits))
          broken(
            slot,
            to,
            `${underWay.round} messages of a round and ${underWay.bulk} of bulk are under way`,
            `one more of its ${lane} departs, where ${limits.connections} may be, of them ${limits.roundConnections} of rounds alone`,
          );
        underWay[lane] += 1;
        if (!isAgain && way.waiting[lane].shift() !== letter)
          broken(slot, to, `a message of its ${lane} departs`, "it is not the oldest of those that wait");
      }
    },
    ended: ({ slot }, to, how, { isReachable, dropped }) => {
      const wanted = expected[how];
      const said = `${isReachable === true ? "reachable" : "not reachable"}, and drops the message as ${dropped ?? "nothing"}`;
      if (isReachable !== wanted.isReachable || dropped !== wanted.dropped)
        broken(slot, to, `an exchange has ended: ${how}`, `the link calls that peer ${said}`);
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
