/** Everything there is at one moment of a small world: an immutable value that knows how it came about. */
import type { Answer } from "../../core/Action.ts";
import { type Fingerprint, fingerprint, gathered, joined } from "./Fingerprint.ts";
import type { Flying, Member } from "./Member.ts";
import type { Spoken } from "./Spoken.ts";

/** The faults that may still happen. */
export interface Budget {
  readonly crashes: number;
  readonly losses: number;
  readonly duplicates: number;
  /** Timers that fire although messages are on their way or time could stand still. */
  readonly timers: number;
  /** Jumps of time by more than a proposal is valid. */
  readonly pauses: number;
  /** What a member that lies says otherwise than it should. */
  readonly lies: number;
}

export const worlds = ["registrations", "signing", "promotion"] as const;

export interface Scope {
  /** Conflicting registrations, signatures with one key, or an instance that becomes a cluster. */
  readonly world: (typeof worlds)[number];
  readonly peers: number;
  /** Callers, through different peers where these are members. */
  readonly requests: number;
  readonly budget: Budget;
  /** Whether messages that make no difference to signatures come in every order, too, which shows that they make none. */
  readonly isFull?: boolean;
}

/** A caller's request: not sent yet, on its way, gone with the process that it was sent to, or answered. */
export type Call = "unsent" | "sent" | "lost" | Answer;

/** The last move, in words, and what it was made on. */
export interface Origin {
  readonly move: string;
  readonly before: Configuration;
}

export interface Configuration {
  readonly members: ReadonlyArray<Member>;
  readonly flying: ReadonlyArray<Flying>;
  readonly calls: ReadonlyArray<Call>;
  readonly spoken: Spoken;
  /** Milliseconds. */
  readonly time: number;
  readonly budget: Budget;
  readonly origin: Origin | undefined;
  readonly print: Fingerprint;
}

/** A configuration from its parts. */
export const configurationOf = (parts: Omit<Configuration, "print">): Configuration => {
  const { members, flying, calls, spoken, time, budget } = parts;
  let print = gathered(flying.map((each) => each.print));
  for (const member of members) print = joined(print, member.print);
  print = joined(
    print,
    joined(fingerprint(calls), joined(spoken.print, joined(fingerprint(time), fingerprint(budget)))),
  );
  return { ...parts, print };
};

/** How a configuration came about, first move first. */
export const storyOf = (configuration: Configuration): ReadonlyArray<string> => {
  const moves: Array<string> = [];
  for (let each = configuration.origin; each !== undefined; each = each.before.origin) moves.push(each.move);
  return moves.toReversed();
};
