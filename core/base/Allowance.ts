/**
 * What may be done so often at once, and once more after each of so many milliseconds. How much of it is used is one
 * number: when all of it will be back, in monotonic milliseconds.
 */
export interface Allowance {
  readonly atOnce: number;
  readonly millis: number;
}

/**
 * Whether it does not last for so many more.
 *
 * @param until when all of it is back; undefined where none is used
 */
export const isUsedUp = (until: number | undefined, now: number, { atOnce, millis }: Allowance, more = 1): boolean =>
  Math.max(0, (until ?? now) - now) + more * millis > atOnce * millis;

/** When all of it is back once one more is used. */
export const used = (until: number | undefined, now: number, { millis }: Allowance): number =>
  Math.max(until ?? now, now) + millis;

/** Uses one of a name's allowance. Names with all of it back are forgotten, and the oldest where there are too many. */
export const useOf = (names: Map<string, number>, name: string, now: number, of: Allowance, most: number): void => {
  const until = used(names.get(name), now, of);
  names.delete(name);
  if (names.size >= most) for (const [other, due] of names) if (due <= now) names.delete(other);
  const [oldest] = names.keys();
  if (names.size >= most && oldest !== undefined) names.delete(oldest);
  names.set(name, until);
};
