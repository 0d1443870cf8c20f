/** Sets of peers. */

/** Sets of up to 32 peers are bit masks of one word: bit `slot - 1`. Word operations give signed words, so compare sets with each other. */
export type PeerMask = number;

export const MOST_PEERS = 32;

export const maskOf = (slot: number): PeerMask => 1 << (slot - 1);

/** The peers from 1 to `count`. */
export const firstPeers = (count: number): PeerMask => (count === 0 ? 0 : -1 >>> (MOST_PEERS - count)) | 0;

export const countOf = (mask: PeerMask): number => slotsOf(mask).length;

/** The peers of a set, ascending. */
export const slotsOf = (mask: PeerMask): ReadonlyArray<number> => {
  const slots: Array<number> = [];
  for (let slot = 1; slot <= MOST_PEERS; slot++) if ((mask & maskOf(slot)) !== 0) slots.push(slot);
  return slots;
};
