/**
 * Capacities so small that a few requests use them up, each drawn by itself. What only a storm reaches with those of the
 * service, a run of some hundred events then meets many times.
 */
import type { Capacities } from "../../core/base/Capacities.ts";
import type { Choices, Stretch } from "../base/Choices.ts";

const FEW: Stretch = [2, 6];

/** All but one: of how many versions an id has callers know nothing, so they could not tell what must be excluded. */
type Drawable = Exclude<keyof Capacities, "excludedVersions">;

/** How small each may be; most as small as can be without one of them being none at all. */
const ranges: Readonly<Record<Drawable, Stretch>> = {
  preparations: FEW,
  refusals: FEW,
  aborts: [4, 12],
  abortsOfActor: FEW,
  unacknowledged: FEW,
  slotWindow: FEW,
  proposalsPerMessage: FEW,
  // The bodies of a few requests, or of one; a longer one goes by itself.
  evidenceBytes: [50, 500],
  // Two statements of each of five members.
  heldStatements: [10, 14],
  offeredSlots: [1, 4],
  comparedSlots: [1, 4],
  ownSlots: [1, 4],
  summedRecords: [1, 4],
  indexedApprovers: [1, 6],
  queuedCommands: [3, 16],
  commandsAtOnce: [2, 4],
  signaturesAtOnce: [1, 3],
  // A peer makes four keys at once, and keeps what it makes until the change of each.
  pendingShares: [4, 6],
  readinessWaiters: FEW,
  sessionsPerRegistrar: FEW,
  sessions: FEW,
  mirroredSessions: FEW,
  sessionsOfRequest: FEW,
  sessionRows: FEW,
  refusedFinishes: FEW,
  refusedFinishesOfActor: FEW,
  refusedFinishNames: FEW,
  denialsRemembered: FEW,
  offersRemembered: FEW,
  listedKeys: [1, 6],
  listedRuns: FEW,
  listWork: FEW,
  // No filter of the lister has more terms than two, and the first search of each is 1.25.
  searchWork: [3, 5],
};

const names = Object.keys(ranges) as ReadonlyArray<Drawable>;

/** Each of these, small in every run. */
export const smallOnes = (
  choices: Choices,
  ...wanted: ReadonlyArray<Exclude<Drawable, "slotWindow">>
): Partial<Capacities> =>
  Object.fromEntries(
    wanted.map((name) => {
      const [least, most] = ranges[name];
      return [name, choices.plan(`small ${name}`).between("value", most, least, most)];
    }),
  );

type Drawn = { -readonly [K in keyof Capacities]?: Capacities[K] };

/** In one run of three some are small, those that are not the service's. */
export const drawnCapacities = (choices: Choices): Partial<Capacities> => {
  const drawn: Drawn = {};
  if (!choices.plan("small capacities").chance("happens", 333)) return drawn;
  for (const name of names) {
    const unit = choices.plan(`capacity ${name}`);
    const [least, most] = ranges[name];
    if (unit.chance("is small", 500)) drawn[name] = unit.between("value", most, least, most);
  }
  // A writer may have as many slots open as preparations.
  const { slotWindow, preparations, ...others } = drawn;
  if (preparations === undefined) return others;
  return slotWindow === undefined
    ? { preparations, ...others }
    : { preparations, slotWindow: Math.max(slotWindow, preparations), ...others };
};
