/**
 * Which requests are admitted, and which is served next, when more come than can be served. The newest is turned away
 * first, at once, and waiting places are shared by actors: an actor with a thousand requests delays only itself.
 */
import type { Capacities } from "../base/Capacities.ts";
import type { Actor } from "./Proposal.ts";

/** The actor as places are shared: not the token, because anybody may have many tokens. */
export const actorName = ({ iss, sub }: Pick<Actor, "iss" | "sub">): string => `${iss ?? ""}\n${sub}`;

/** Requests of one entry peer that may be with the writer at once; the rest wait at the entry peer. */
export const forwardsAtOnce = ({ queuedCommands }: Capacities): number => Math.max(1, queuedCommands >> 3);

/**
 * How many forwards may follow one that the writer has not acknowledged. Of each entry peer the writer remembers more
 * refusals than these and the requests it holds, so no request that it has not seen yet can pass for a duplicate of one
 * that it no longer remembers.
 */
export const forwardsAhead = ({ queuedCommands }: Capacities): number => Math.max(1, queuedCommands >> 1);

/** Refusals of requests of one entry peer that the writer remembers. */
export const refusalsRemembered = ({ queuedCommands }: Capacities): number => queuedCommands;

/** How fast a line moves. */
export interface Pace {
  /** The recent time per request. */
  readonly millis: number;
  /** Since when a request has been waiting that was ready. */
  readonly busySince: number | undefined;
  /** When it was measured last, or wore off. */
  readonly knownAt: number | undefined;
}

export const noPace: Pace = { millis: 0, busySince: undefined, knownAt: undefined };

/** How often it wears off while nobody has to wait. */
const WEAR_MILLIS = 1_000;

/**
 * Updates the pace when so many requests have left the line. Where nobody has to wait, what was slow wears off, or a line
 * that has become short would never be measured again.
 *
 * @param at monotonic milliseconds
 * @param since when the first of those in it came: a line that was empty in between was not busy then
 * @param isBusy whether others had to stay although they were ready
 */
export const paced = (pace: Pace, at: number, left: number, since: number, isBusy: boolean): Pace => {
  const { millis, busySince: before, knownAt = Number.NEGATIVE_INFINITY } = pace;
  const busySince = isBusy ? at : undefined;
  // What leaves at the same moment, such as those that are over, says nothing of how fast it moves.
  if (left === 0 || before === at) return { ...pace, busySince };
  if (before === undefined) {
    if (at - knownAt < WEAR_MILLIS) return { ...pace, busySince };
    return { millis: millis < 1 ? 0 : (3 * millis) / 4, busySince, knownAt: at };
  }
  const sample = (at - Math.max(before, since)) / left;
  return { millis: millis === 0 ? sample : (3 * millis + sample) / 4, busySince, knownAt: at };
};

/** Places in a line of this pace: a request that would wait longer than half of `patience` is not admitted. */
export const placesAt = (
  { millis }: Pick<Pace, "millis">,
  { queuedCommands, proposalsPerMessage }: Capacities,
  patience: number,
): number => {
  if (millis === 0) return queuedCommands;
  return Math.min(queuedCommands, Math.max(proposalsPerMessage, Math.floor(patience / 2 / millis)));
};

/** What one waiting request takes up. */
export interface Share {
  readonly actor: string;
  readonly bytes: number;
}

export interface Room {
  readonly requests: number;
  readonly bytes: number;
}

/** This many bytes weigh as much as one more request. */
const PLACE_BYTES = 32 * 1024;

const NOBODY: ReadonlySet<number> = new Set();

/**
 * Which requests make room for one more: the newest of the actor that holds most requests and bytes, until it fits.
 *
 * @param waiting in the order in which they came; these can go
 * @param besides requests that take up room and cannot go
 * @returns which of `waiting` go; undefined where no actor holds more than the new one's, which is then turned away
 */
export const makingRoom = (
  waiting: ReadonlyArray<Share>,
  arrival: Share,
  besides: ReadonlyArray<Share>,
  room: Room,
): ReadonlySet<number> | undefined => {
  const weights = new Map<string, number>();
  let requests = 0;
  let bytes = 0;
  const count = (share: Share, sign: 1 | -1): void => {
    requests += sign;
    bytes += sign * share.bytes;
    const weight = 1 + share.bytes / PLACE_BYTES;
    weights.set(share.actor, (weights.get(share.actor) ?? 0) + sign * weight);
  };
  for (const share of besides) count(share, 1);
  for (const share of waiting) count(share, 1);
  count(arrival, 1);
  const fits = (): boolean => requests <= room.requests && bytes <= room.bytes;
  if (fits()) return NOBODY;
  const going = new Set<number>();
  while (!fits()) {
    let newest: number | undefined;
    let most = weights.get(arrival.actor) ?? 0;
    for (let index = waiting.length - 1; index >= 0; index -= 1) {
      const share = waiting[index];
      const weight = share === undefined || going.has(index) ? 0 : (weights.get(share.actor) ?? 0);
      if (weight <= most) continue;
      most = weight;
      newest = index;
    }
    const gone = newest === undefined ? undefined : waiting[newest];
    if (newest === undefined || gone === undefined) return undefined;
    going.add(newest);
    count(gone, -1);
  }
  return going;
};

/**
 * The waiting requests in the order in which they are served: the first of every actor before the second of any.
 *
 * @param underWay how many requests of each actor are being served and not answered yet
 */
export const inTurn = <A>(
  waiting: ReadonlyArray<A>,
  actorOf: (each: A) => string,
  underWay: ReadonlyMap<string, number> = new Map(),
): ReadonlyArray<A> => {
  const ranks = new Map(underWay);
  const ranked = waiting.map((each) => {
    const actor = actorOf(each);
    const rank = ranks.get(actor) ?? 0;
    ranks.set(actor, rank + 1);
    return { each, rank };
  });
  if (ranks.size <= 1) return waiting;
  return ranked.toSorted((left, right) => left.rank - right.rank).map(({ each }) => each);
};
