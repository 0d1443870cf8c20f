/** The default mix: the schedule of a run that names none. */
import { Choices } from "../base/Choices.ts";
import type { Mode } from "../base/Plan.ts";
import { USUAL_SHARE } from "./Schedule.ts";
import { scheduleNamed, type ScheduleName, scheduleNames } from "./Schedules.ts";

/** What the draw depends on, beside the seed. */
interface Left {
  readonly seed: number;
  readonly schedule?: ScheduleName | undefined;
  readonly peers?: number | undefined;
  readonly mode?: Mode | undefined;
}

/** Whether a schedule makes sense with so many peers. */
const fits = (name: ScheduleName, peers: number | undefined): boolean => {
  const { sizes } = scheduleNamed(name);
  return peers === undefined || sizes === undefined || peers >= Math.min(...sizes.drawn);
};

const shareOf = (name: ScheduleName): number => scheduleNamed(name).share ?? USUAL_SHARE;

/**
 * The schedule of a run: that of its options, or one drawn from the seed by the shares. The draw is on no tape, which
 * names its schedule: a run is the same whether it was drawn or asked for. Past the budget, where members fail beside
 * whatever a schedule does, it is `swarm`.
 */
export const scheduleOf = ({ seed, schedule, peers, mode }: Left): ScheduleName => {
  if (schedule !== undefined) return schedule;
  if (mode === "past") return "swarm";
  const shares = scheduleNames.map((name) => (fits(name, peers) ? shareOf(name) : 0));
  return new Choices(seed).stream("mix").next().named("schedule", "swarm", scheduleNames, shares);
};
