/**
 * Who is let in and who is served next where more come than can be served. Whoever came last is turned away first, at
 * once, and what waits is shared by actors: one that sends a thousand requests waits behind itself, not before others.
 */
import type { Settings } from "./Event.ts";
import { Limits } from "../base/Limits.ts";
import type { Actor } from "./Proposal.ts";

/** The actor as far as places are shared: not the token, of which everybody may have many. */
export const actorName = ({ iss, sub }: Pick<Actor, "iss" | "sub">): string => `${iss ?? ""}\n${sub}`;

/** Requests that an entry peer may have with the writer at once; the rest waits at the entry peer. */
export const forwardsAtOnce = ({ places }: Settings): number => Math.max(1, places >> 3);

/**
 * How many forwards may follow one that the writer has not acknowledged. The writer remembers more refusals of one
 * entry peer than these and what is with the writer besides, so that no request it has not seen yet can be taken for a
 * duplicate of one that it no longer remembers.
 */
export const forwardsAhead = ({ places }: Settings): number => Math.max(1, places >> 1);

/** Refusals of requests of one entry peer that the writer remembers. */
export const refusalsRemembered = ({ places }: Settings): number => places;

/** How fast a line moves: what one request took lately, in milliseconds, and since when somebody has been waiting. */
export interface Pace {
  readonly millis: number;
  readonly busySince: number | undefined;
}

export const noPace: Pace = { millis: 0, busySince: undefined };

/**
 * So many have left the line now.
 *
 * @param isBusy whether others had to stay although they were ready
 */
export const paced = (pace: Pace, at: number, left: number, isBusy: boolean): Pace => {
  const busySince = isBusy ? at : undefined;
  if (pace.busySince === undefined || left === 0)
    return { millis: pace.millis, busySince: busySince ?? pace.busySince };
  const sample = (at - pace.busySince) / left;
  return { millis: pace.millis === 0 ? sample : (3 * pace.millis + sample) / 4, busySince };
};

/** Places in a line that moves at this pace: whoever would wait longer than half of `patience` is not let in. */
export const placesAt = ({ millis }: Pace, { places }: Settings, patience: number): number => {
  if (millis === 0) return places;
  return Math.min(places, Math.max(Limits.proposalsPerMessage, Math.floor(patience / 2 / millis)));
};

/** What somebody who waits takes of what there is. */
export interface Share {
  readonly actor: string;
  readonly bytes: number;
}

export interface Room {
  readonly requests: number;
  readonly bytes: number;
}

/** So many bytes weigh as much as one more request. */
const PLACE_BYTES = Limits.queuedBytes / Limits.queuedCommands;

const NOBODY: ReadonlySet<number> = new Set();

/**
 * Who goes to make room for one more: the newest of whoever takes most, by requests and bytes, until it fits.
 *
 * @param waiting in the order in which they came; these can go
 * @param besides what is there and cannot go
 * @returns which of `waiting` go; undefined where nobody takes more than the new one's actor, so that it is turned away
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
 * Those who wait in the order in which they are served: the first of every actor before the second of any.
 *
 * @param underWay what each actor has been served already and not been answered
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
