/** Peers as they stand in a run, beside the quiet run of the same length: what differs first, in words. */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { type Lines, linesOf } from "./StateLines.ts";
import { Topics } from "./Topics.ts";

/** A line of a state; undefined where a run has no such line. */
export interface StateLine {
  readonly section: string;
  readonly name: string;
  readonly now: string | undefined;
  readonly quiet: string | undefined;
}

export interface PeerText {
  readonly differs: ReadonlyArray<StateLine>;
  readonly same: ReadonlyArray<StateLine>;
}

const told = (crypto: Crypto, state: PeerState | undefined): Lines => {
  const topics = new Topics(crypto);
  const { preparations, aborting, outbox } = state?.undecided ?? {};
  // Before anything else, so that a proposal has its name from its first mention on.
  for (const open of [preparations, aborting, outbox])
    for (const { proposal } of open?.values() ?? []) topics.proposal(proposal);
  return linesOf(topics, state, undefined, new Map());
};

const namesOf = (lines: Lines): ReadonlyArray<readonly [string, string]> =>
  [...lines].flatMap(([section, named]) => [...named.keys()].map((name) => [section, name] as const));

/** The lines of a peer's state, those that are otherwise in the quiet run apart; sections in the order of reading. */
export const besideQuiet = (crypto: Crypto, now: PeerState | undefined, quiet: PeerState | undefined): PeerText => {
  const [here, there] = [told(crypto, now), told(crypto, quiet)];
  const names = new Map([...namesOf(here), ...namesOf(there)].map((each) => [each.join("\n"), each]));
  const lines = [...names.values()].map(
    ([section, name]): StateLine => ({
      section,
      name,
      now: here.get(section)?.get(name)?.text,
      quiet: there.get(section)?.get(name)?.text,
    }),
  );
  return {
    differs: lines.filter((line) => line.now !== line.quiet),
    same: lines.filter((line) => line.now === line.quiet),
  };
};

const sayLine = ({ section, name, now }: StateLine): string => `${section}: ${name}${now === "" ? "" : `: ${now}`}`;

const sayDifference = (line: StateLine): string =>
  line.now === undefined
    ? `${line.section}: ${line.name}: nothing (quiet: ${line.quiet})`
    : `${sayLine(line)} (quiet: ${line.quiet ?? "nothing"})`;

/** In words, a line each. */
export const peerLines = ({ differs, same }: PeerText): ReadonlyArray<string> => [
  `  ${differs.length} lines differ from the quiet run at this time:`,
  ...differs.map((line) => `    ${sayDifference(line)}`),
  `  ${same.length} are the same:`,
  ...same.map((line) => `    ${sayLine(line)}`),
];
