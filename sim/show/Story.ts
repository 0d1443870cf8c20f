/**
 * A failing run told in a few lines: what deviates from the quiet run and what
 * happened besides, in the order of time, and the two facts that contradict.
 */
import { statementsIn } from "../checkers/StatementsIn.ts";
import { voteText } from "../checkers/Votes.ts";
import type { Observed } from "../world/Observer.ts";
import { silent } from "../world/Silent.ts";
import { deviates, type RecordedDraw, type RecordedUnit, type TapeOptions } from "../tape/Tape.ts";
import type { Onlookers, Recording } from "../tape/TapeRun.ts";

/** Lines of a whole failure. */
export const MOST_FAILURE_LINES = 30;
const MOST_STORY_LINES = 20;
const MOST_LINE = 400;
/** The last lines of the trace that are told whatever they say. */
const LAST_LINES = 3;

interface Telling {
  readonly at: number;
  readonly event: number;
  /** Votes that the contradiction is about matter most, then deviations, crashes and the like, the end of the trace. */
  readonly rank: number;
  readonly text: () => string;
}

const subjects: ReadonlyArray<readonly [RegExp, (match: ReadonlyArray<string>, ordinal: number) => string]> = [
  [/^link (\d+)>(\d+)$/, ([, from, to], ordinal) => `message ${ordinal} from peer ${from} to peer ${to}`],
  [/^(flush|process) (\d+)$/, ([, what, peer], ordinal) => `${what} ${ordinal} of peer ${peer}`],
  [/^caller (\d+)$/, ([, caller], ordinal) => `act ${ordinal} of caller ${caller}`],
  [/^clock (\d+)$/, ([, peer]) => `clock of peer ${peer}`],
  [/^traitor (\d+)$/, ([, peer], ordinal) => `lie ${ordinal} of the traitor, peer ${peer}`],
  [/^plan (.+)$/, ([, field]) => `plan, ${field}`],
];

const subjectOf = ({ stream, ordinal }: RecordedUnit): string => {
  for (const [pattern, say] of subjects) {
    const match = pattern.exec(stream);
    if (match !== null) return say(match, ordinal);
  }
  return `${stream} ${ordinal}`;
};

const isFault = ({ stream }: RecordedUnit): boolean => stream.startsWith("fault") || stream.startsWith("moment");

const sayDraw = ({ label, value }: RecordedDraw): string => {
  if (label === "what") return String(value);
  return typeof value === "boolean" ? (value ? label : `not ${label}`) : `${label} ${value}`;
};

/** One line for a unit that deviates: of a fault all it drew, of others what is not quiet. */
export const sayUnit = (unit: RecordedUnit): string => {
  const told = isFault(unit) ? unit.draws : unit.draws.filter(({ value, quiet }) => value !== quiet);
  return `${subjectOf(unit)}: ${told.map(sayDraw).join(", ")}`;
};

/** Votes that are told: the last ones. */
const MOST_VOTES = 6;

/** A statement as it was first sent by anybody. */
interface Vote {
  readonly telling: Telling;
  readonly proposalId: string;
  readonly isLie: boolean;
}

/** The votes on what the facts name; where they name no proposal, the words of traitors. */
const votesBehind = (votes: ReadonlyArray<Vote>, facts: ReadonlyArray<string>): ReadonlyArray<Telling> => {
  const about = votes.filter(({ proposalId }) => facts.some((fact) => fact.includes(proposalId)));
  const told = about.length > 0 ? about : votes.filter(({ isLie }) => isLie);
  return told.slice(-MOST_VOTES).map(({ telling }) => telling);
};

/** Which members lie in a world, and how; undefined where none does. */
export const traitorText = ({ peers }: Pick<Observed, "peers">): string | undefined =>
  peers
    .flatMap(({ slot, treason }) => (treason === undefined ? [] : [`peer ${slot} is the traitor: ${treason}`]))
    .join("; ") || undefined;

export interface Story {
  /** Which members lie, and how. */
  readonly traitor: string | undefined;
  readonly lines: ReadonlyArray<string>;
}

/** Words of the trace that are told of every run. */
const KEY: ReadonlySet<string> = new Set(["crash", "seal", "refuse"]);

const when = (micros: number): string => `${(micros / 1_000_000).toFixed(6).padStart(11)} s`;

const cut = (line: string): string => (line.length > MOST_LINE ? `${line.slice(0, MOST_LINE - 1)}…` : line);

/** Picks what matters most and puts it back in the order of time. */
const chosen = (tellings: ReadonlyArray<Telling>): ReadonlyArray<Telling> =>
  tellings
    .map((telling, order) => ({ telling, order }))
    .toSorted((left, right) => left.telling.rank - right.telling.rank || left.order - right.order)
    .slice(0, MOST_STORY_LINES)
    .toSorted((left, right) => left.order - right.order)
    .map(({ telling }) => telling);

/**
 * Runs something once more and tells what happened in it.
 *
 * @param rerun runs it with an observer
 */
export const storyOf = (rerun: (onlookers: Onlookers) => Recording): Story => {
  const tellings: Array<Telling> = [];
  const units: Array<{ readonly telling: Telling; readonly unit: RecordedUnit }> = [];
  const votes: Array<Vote> = [];
  const voted = new Set<string>();
  let last: Array<Telling> = [];
  let world: Observed | undefined;
  const tell = (rank: number, text: () => string): Telling => ({
    at: world?.now ?? 0,
    event: world?.events ?? 0,
    rank,
    text,
  });
  const { result } = rerun({
    began: (unit) => {
      const telling = tell(0, () => sayUnit(unit));
      tellings.push(telling);
      units.push({ telling, unit });
    },
    observer: {
      ...silent,
      began: (observed) => {
        world = observed;
      },
      noted: (what, slot, detail, other) => {
        const isKey = KEY.has(what);
        const telling = tell(isKey ? 1 : 2, () => `peer ${slot}: ${what} ${detail}${other === 0 ? "" : ` ${other}`}`);
        tellings.push(telling);
        if (!isKey) last = [...last.slice(1 - LAST_LINES), telling];
      },
      sent: ({ from, to, message }) => {
        if (world === undefined) return;
        for (const vote of statementsIn(world.product, message)) {
          const { header, statement } = vote;
          const { proposalId } = statement;
          const name = `${header.peerId} ${header.incarnation} ${statement.kind} ${statement.detail} ${proposalId}`;
          if (voted.has(name)) continue;
          voted.add(name);
          const isLie = world.peers.some(({ slot, treason }) => slot === header.peerId && treason !== undefined);
          const whose = isLie ? `the traitor's` : `peer ${header.peerId}'s`;
          const telling = tell(-1, () => `peer ${from} sends peer ${to} ${whose} ${voteText(vote)}`);
          tellings.push(telling);
          votes.push({ telling, proposalId, isLie });
        }
      },
      healed: () => tellings.push(tell(1, () => "everything is healed")),
    },
  });
  const quiet = new Set(units.filter(({ unit }) => !deviates(unit)).map(({ telling }) => telling));
  const behind = new Set(votesBehind(votes, result.violation?.facts ?? []));
  const worth = tellings.filter((each) =>
    each.rank < 0 ? behind.has(each) : (each.rank < 2 && !quiet.has(each)) || last.includes(each),
  );
  return {
    traitor: world && traitorText(world),
    lines: chosen(worth).map(({ at, event, text }) => cut(`  ${when(at)}  event ${event}  ${text()}`)),
  };
};

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

export interface Failure {
  readonly recording: Recording;
  readonly commit: string;
  /** The command that replays it. */
  readonly replay: string;
  /** What else is known of how it came about, such as the command with the seed. */
  readonly origin: string;
  readonly story: Story;
}

const sizeOf = ({ peers, callers, steps }: TapeOptions): string =>
  `${count(peers, "peer")}, ${count(callers, "caller")}, ${count(steps, "step")}`;

/** A failure in at most {@link MOST_FAILURE_LINES} lines. */
export const failureText = ({ recording, commit, replay, origin, story }: Failure): ReadonlyArray<string> => {
  const { options, result, deviations } = recording;
  const { violation } = result;
  if (violation === undefined) return [];
  const told = count(deviations.length, "deviation");
  const bug = options.bug === undefined ? "" : `, with the planted bug ${options.bug}`;
  return [
    `seed ${options.seed} (schedule ${options.schedule}${bug}), commit ${commit}, breaks ${violation.id}`,
    ...(story.traitor === undefined ? [] : [`  ${story.traitor}`]),
    cut(`  fact: ${violation.facts[0]}`),
    cut(`  fact: ${violation.facts[1]}`),
    `  replay: ${replay}`,
    `  ${origin}`,
    `  the story, ${told} from the quiet run of ${sizeOf(options)}; draws of time are microseconds:`,
    ...story.lines,
    `  ${violation.id} is broken after ${count(result.events, "event")}`,
  ];
};
