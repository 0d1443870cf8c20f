/** Ranges of seeds as people write them. */
import { Either } from "effect";

export interface SeedRange {
  readonly first: number;
  readonly last: number;
}

const LARGEST = 2 ** 48;
const pattern = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/;

/** Reads `7` or `1..10000`; the left side says what is expected. */
export const parseSeeds = (text: string): Either.Either<SeedRange, string> => {
  const [, from, to] = pattern.exec(text) ?? [];
  const first = Number(from);
  const last = Number(to ?? from);
  return from === undefined || first > last || last > LARGEST
    ? Either.left("seeds are one number, or a range such as 1..10000 that does not run backwards")
    : Either.right({ first, last });
};

/** Reads `60s`, `5m` or `2h` as milliseconds. */
export const parseDuration = (text: string): Either.Either<number, string> => {
  const [, count, unit] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? [];
  const millis = unit === "s" ? 1_000 : unit === "m" ? 60_000 : 3_600_000;
  return count === undefined || Number(count) === 0
    ? Either.left("a time is a number with its unit, such as 60s, 5m or 2h")
    : Either.right(Number(count) * millis);
};
