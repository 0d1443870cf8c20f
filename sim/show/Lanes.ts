/** What is drawn beside the moments: how each peer is from row to row, and how its state changes. */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { type LaneData, modes, type StateChange } from "./PictureData.ts";
import type { Pool } from "./Pool.ts";
import type { Moment, Recorder } from "./Recorder.ts";
import { type Line, type Lines, linesOf, laneModeOf } from "./StateLines.ts";
import type { Topics } from "./Topics.ts";

/** Values with equal texts may differ further down. */
const isSame = (left: Line | undefined, right: Line): boolean =>
  left !== undefined && left.text === right.text && left.value === right.value;

/** What must be changed to get from one set of lines to another. */
const changesOf = (pool: Pool, before: Lines, now: Lines): ReadonlyArray<StateChange> => {
  const changes: Array<StateChange> = [];
  for (const [section, lines] of before) {
    const kept = now.get(section);
    if (kept === lines) continue;
    for (const name of lines.keys()) if (!kept?.has(name)) changes.push([pool.add(section), pool.add(name)]);
  }
  for (const [section, lines] of now) {
    const old = before.get(section);
    if (old === lines) continue;
    for (const [name, line] of lines)
      if (!isSame(old?.get(name), line))
        changes.push([pool.add(section), pool.add(name), pool.add(line.text), pool.add(line.value)]);
  }
  return changes;
};

const lane = (recorder: Recorder, topics: Topics, pool: Pool, slot: number): LaneData => {
  const lanes = {
    modes: new Array<readonly [number, number, number]>(),
    flushes: new Array<readonly [number, number]>(),
    states: new Array<readonly [number, ReadonlyArray<StateChange>]>(),
  };
  let state: PeerState | undefined;
  let lines: Lines = new Map();
  let flushFrom = -1;
  let isPaused = false;
  const step = (row: number, now: PeerState | undefined): void => {
    const next = linesOf(topics, now, state, lines);
    const changes = changesOf(pool, lines, next);
    if (changes.length > 0) lanes.states.push([row, changes]);
    const mode = modes.indexOf(isPaused && now !== undefined ? "paused" : laneModeOf(now));
    const locks = now?.undecided.locks.size ?? 0;
    const last = lanes.modes.at(-1);
    if (last?.[1] !== mode || last[2] !== locks) lanes.modes.push([row, mode, locks]);
    state = now;
    lines = next;
  };
  const flush = (row: number, moment: Moment): void => {
    const ends = moment.kind === "flush" || moment.kind === "crash";
    if (flushFrom >= 0 && ends) {
      lanes.flushes.push([flushFrom, row]);
      flushFrom = -1;
    }
    if (moment.flushes) flushFrom = row;
  };
  step(-1, recorder.earlier.get(slot));
  recorder.moments.forEach((moment, row) => {
    if (moment.slot === slot) flush(row, moment);
    if (moment.slot === slot && (moment.kind === "pause" || moment.kind === "resume")) {
      isPaused = moment.kind === "pause";
      step(row, state);
    }
    if (moment.kind === "crash" && moment.slot === slot) isPaused = false;
    if (moment.state?.of === slot) step(row, moment.state.now);
  });
  if (flushFrom >= 0) lanes.flushes.push([flushFrom, recorder.moments.length]);
  return lanes;
};

export const lanesOf = (recorder: Recorder, topics: Topics, pool: Pool): ReadonlyArray<LaneData> =>
  recorder.world.peers.map(({ slot }) => lane(recorder, topics, pool, slot));
