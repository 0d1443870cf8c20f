/** A part of a hunt for one machine of several: no seed in two parts, none left out. */
import { Either } from "effect";
import type { SeedRange } from "./Seeds.ts";

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

const MOST_SHARDS = 10_000;

/** Reads `2/8`; the left side says what is expected. */
export const parseShard = (text: string): Either.Either<Shard, string> => {
  const [, part, of] = /^(\d{1,5})\/(\d{1,5})$/.exec(text) ?? [];
  const index = Number(part);
  const count = Number(of);
  return of === undefined || count < 1 || count > MOST_SHARDS || index < 1 || index > count
    ? Either.left(`a shard is its number and how many there are, such as 2/8, from 1 and at most ${MOST_SHARDS}`)
    : Either.right({ index, count });
};

/** The seeds of one part; undefined where there are fewer seeds than parts and this one has none. */
export const shardOf = ({ first, last }: SeedRange, { index, count }: Shard): SeedRange | undefined => {
  const total = last - first + 1;
  const begin = first + Math.floor((total / count) * (index - 1));
  const end = index === count ? last : first + Math.floor((total / count) * index) - 1;
  return begin > end ? undefined : { first: begin, last: end };
};
