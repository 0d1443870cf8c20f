/** A run as its deviations from the quiet one, and the smaller runs that may fail in its stead. */
import { Mixer } from "../base/Mixer.ts";
import type { RecordedDraw, RecordedUnit, TapeOptions, Value } from "../tape/Tape.ts";

export interface Course {
  readonly options: TapeOptions;
  readonly units: ReadonlyArray<RecordedUnit>;
  /** It fails before its steps are over: fewer of them make nothing smaller. */
  readonly isEarly: boolean;
}

/** A position in the search for smaller runs. */
export interface Place {
  readonly pass: number;
  /** How many units are taken away at once, in the pass that takes away runs of them. */
  readonly chunk: number;
  readonly at: number;
  /** Something became smaller since the first pass. */
  readonly improved: boolean;
}

/** A smaller run, made when it is asked for. */
type Candidate = () => Course;
type Pass = (course: Course, chunk: number) => ReadonlyArray<Candidate>;

const componentOf = ({ stream }: RecordedUnit): string => stream.split(" ")[0] ?? stream;

/** Takes away all units with a common name at once, the most numerous group first. */
const withoutGroups =
  (groupOf: (unit: RecordedUnit) => string): Pass =>
  (course) => {
    const { units } = course;
    const groups = new Map<string, number>();
    for (const unit of units) groups.set(groupOf(unit), (groups.get(groupOf(unit)) ?? 0) + 1);
    if (groups.size === units.length) return [];
    return [...groups]
      .toSorted(([, left], [, right]) => right - left)
      .map(([group]) => () => ({ ...course, units: units.filter((unit) => groupOf(unit) !== group) }));
  };

/** What begins last is taken away first: nothing before it becomes another. */
const withoutTail: Pass = (course) => {
  const { units } = course;
  return smallerNumbers(units.length, 1, ...[1 / 8, 1 / 2, 3 / 4, 7 / 8].map((part) => units.length * part)).map(
    (kept) => () => ({ ...course, units: units.slice(0, kept) }),
  );
};

const isQuiet = ({ draws }: RecordedUnit): boolean => draws.every(({ value, quiet }) => value === quiet);

/** Makes all draws with a common name quiet at once: all delays of messages, say, while losses stay. */
const withoutLabels: Pass = (course) => {
  const counts = new Map<string, number>();
  const nameOf = (unit: RecordedUnit, { label }: RecordedDraw): string => `${componentOf(unit)} ${label}`;
  for (const unit of course.units)
    for (const draw of unit.draws)
      if (draw.value !== draw.quiet) counts.set(nameOf(unit, draw), (counts.get(nameOf(unit, draw)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1)
    .toSorted(([, left], [, right]) => right - left)
    .map(([name]) => () => {
      const units = course.units.map((unit) => ({
        ...unit,
        draws: unit.draws.map((draw) => (nameOf(unit, draw) === name ? { ...draw, value: draw.quiet } : draw)),
      }));
      return { ...course, units: units.filter((unit) => !isQuiet(unit)) };
    });
};

const smallerNumbers = (now: number, least: number, ...wanted: ReadonlyArray<number>): ReadonlyArray<number> => [
  ...new Set(wanted.map(Math.floor).filter((each) => each >= least && each < now)),
];

const withOptions =
  (course: Course, change: Partial<TapeOptions>): Candidate =>
  () => ({ ...course, options: { ...course.options, ...change } });

/** A run that fails in the end costs what its steps cost, in every attempt: they are cut first. */
const fewerSteps: Pass = (course) => {
  const { steps } = course.options;
  if (course.isEarly) return [];
  return smallerNumbers(steps, 1, ...[1 / 16, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 15 / 16].map((part) => steps * part)).map(
    (each) => withOptions(course, { steps: each }),
  );
};

const smallerOptions: Pass = (course) => {
  const { peers, callers } = course.options;
  return [
    ...smallerNumbers(callers, 1, 1, 2, callers / 4, callers / 2, (callers * 3) / 4, (callers * 7) / 8).map((each) =>
      withOptions(course, { callers: each }),
    ),
    ...smallerNumbers(peers, 1, 1, 2, 3).map((each) => withOptions(course, { peers: each })),
  ];
};

/** In this place of a thousand a unit stands in a draw of units; other units and other turns stand elsewhere. */
const lotOf = ({ stream, ordinal }: RecordedUnit, turn: number): number => {
  const mixer = lots.reset(turn);
  mixer.text(stream);
  mixer.word(ordinal);
  return (mixer.first >>> 1) % 1000;
};
const lots = new Mixer();

/** So many units of a thousand, drawn by lot: the same ones for the same number of the lot. */
export const withLot = (units: ReadonlyArray<RecordedUnit>, perMille: number, turn = 0): ReadonlyArray<RecordedUnit> =>
  units.filter((unit) => lotOf(unit, turn) < perMille);

/** Too few to be worth a draw of them: all are tried one by one before long. */
const MANY = 24;

/**
 * A few units of many, drawn by lot: where a failure needs little, most of them go at once. What was kept is thinned
 * again until no draw of it fails; the number of units left makes the next draws other ones.
 */
const thinned: Pass = (course) => {
  const { units } = course;
  if (units.length < MANY) return [];
  return [60, 125, 250, 250, 500, 500, 500, 750, 750].map((perMille, at) => () => {
    const kept = withLot(units, perMille, units.length * 16 + at);
    // Where the lot takes nothing away, the same run would fail for ever.
    return { ...course, units: kept.length < units.length ? kept : [] };
  });
};

const CALLER = /^caller (\d+)$/;

/** The run with these callers alone, who are given the first numbers: a caller that is only quiet asks all the same. */
const withCallers = (course: Course, kept: ReadonlyArray<number>): Course => {
  const numbers = new Map(kept.map((caller, index) => [caller, index + 1]));
  const units = course.units.flatMap((unit): ReadonlyArray<RecordedUnit> => {
    const [, caller] = CALLER.exec(unit.stream) ?? [];
    if (caller === undefined) return [unit];
    const number = numbers.get(Number(caller));
    return number === undefined ? [] : [{ ...unit, stream: `caller ${number}` }];
  });
  return { ...course, units, options: { ...course.options, callers: kept.length } };
};

/** Takes callers away, many at once and then single ones. */
const fewerCallers: Pass = (course) => {
  const { callers } = course.options;
  const all = Array.from({ length: callers }, (_, index) => index + 1);
  const chunks = new Set([callers / 2, callers / 4, callers / 8, callers / 16, 1].map(Math.ceil));
  // Of thousands, single ones would take all the time there is.
  return [...chunks]
    .filter((chunk) => chunk < callers && callers / chunk <= MOST_PARTS)
    .flatMap((chunk) =>
      Array.from({ length: Math.ceil(callers / chunk) }, (_, part) => () => {
        const kept = all.filter((_each, index) => Math.floor(index / chunk) !== part);
        return withCallers(course, kept);
      }),
    );
};
const MOST_PARTS = 64;

const nothing: Pass = (course) => (course.units.length === 0 ? [] : [() => ({ ...course, units: [] })]);

const compared = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** Takes away units that are neighbours in some order. */
const withoutNeighbours = (
  course: Course,
  chunk: number,
  sorted: ReadonlyArray<RecordedUnit>,
): ReadonlyArray<Candidate> =>
  Array.from({ length: Math.ceil(sorted.length / chunk) }, (_, index) => () => {
    const gone = new Set(sorted.slice(index * chunk, (index + 1) * chunk));
    return { ...course, units: course.units.filter((unit) => !gone.has(unit)) };
  });

interface Deviation {
  readonly name: string;
  readonly draw: RecordedDraw;
}

/** Makes draws quiet that are neighbours by component and label. */
const withoutLike = (course: Course, chunk: number): ReadonlyArray<Candidate> => {
  const sorted = course.units
    .flatMap((unit) =>
      unit.draws
        .filter(({ value, quiet }) => value !== quiet)
        .map((draw): Deviation => ({ name: `${componentOf(unit)} ${draw.label}`, draw })),
    )
    .toSorted((left, right) => compared(left.name, right.name));
  return Array.from({ length: Math.ceil(sorted.length / chunk) }, (_, index) => () => {
    const gone = new Set(sorted.slice(index * chunk, (index + 1) * chunk).map(({ draw }) => draw));
    const units = course.units.map((unit) =>
      unit.draws.some((draw) => gone.has(draw))
        ? { ...unit, draws: unit.draws.map((draw) => (gone.has(draw) ? { ...draw, value: draw.quiet } : draw)) }
        : unit,
    );
    return { ...course, units: units.filter((unit) => !isQuiet(unit)) };
  });
};

/** Fewer units than these are taken away in the order of time alone: other orders would try much the same again. */
const FEW = 8;

const withoutChunks: Pass = (course, chunk) => {
  const inTime = withoutNeighbours(course, chunk, course.units);
  if (chunk < FEW) return inTime;
  const byStream = course.units.toSorted((left, right) => compared(left.stream, right.stream));
  return [...inTime, ...withoutNeighbours(course, chunk, byStream), ...withoutLike(course, chunk)];
};

/** Calmer values of a draw: its quiet value, or one half way to it. */
const calmer = ({ value, quiet }: RecordedDraw): ReadonlyArray<Value> => {
  if (value === quiet) return [];
  if (typeof value !== "number" || typeof quiet !== "number") return [quiet];
  const half = quiet + Math.trunc((value - quiet) / 2);
  return half === value || half === quiet ? [quiet] : [quiet, half];
};

const calmerValues: Pass = (course) =>
  course.units.flatMap((unit, unitAt) =>
    unit.draws.flatMap((draw, drawAt) =>
      calmer(draw).map(
        (value): Candidate =>
          () => {
            const draws = unit.draws.with(drawAt, { ...draw, value });
            return { ...course, units: course.units.with(unitAt, { ...unit, draws }) };
          },
      ),
    ),
  );

const CHUNKS = 8;
const passes: ReadonlyArray<Pass> = [
  fewerSteps,
  nothing,
  smallerOptions,
  thinned,
  fewerCallers,
  withoutTail,
  withoutLabels,
  withoutGroups(componentOf),
  withoutChunks,
  withoutGroups(({ stream }) => stream),
  calmerValues,
];

export const START: Place = { pass: 0, chunk: 0, at: 0, improved: false };

const firstChunk = ({ units }: Course): number => Math.max(1, Math.ceil(units.length / 2));

/** The position after the last candidate of a pass; undefined once a whole round made nothing smaller. */
const turn = ({ pass, chunk, improved }: Place, course: Course): Place | undefined => {
  if (pass === CHUNKS && chunk > 1) return { pass, chunk: Math.ceil(chunk / 2), at: 0, improved };
  if (pass + 1 < passes.length) return { pass: pass + 1, chunk: firstChunk(course), at: 0, improved };
  return improved ? START : undefined;
};

export interface Reduction {
  readonly candidate: Course;
  /** The position to go on from if this one fails too. */
  readonly ifFailing: Place;
}

/** The smaller runs of a run from a position on, coarse to fine, until a whole round has none left. */
export function* reductions(course: Course, from: Place): Generator<Reduction> {
  for (let place: Place | undefined = from; place !== undefined; place = turn(place, course)) {
    const { pass, chunk } = place;
    const candidates = passes[pass]?.(course, Math.max(1, chunk)) ?? [];
    for (let at = place.at; at < candidates.length; at++) {
      const candidate = candidates[at];
      if (candidate !== undefined) yield { candidate: candidate(), ifFailing: { pass, chunk, at, improved: true } };
    }
  }
}
