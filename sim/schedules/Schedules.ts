/** The named schedules: each a plan drawn from a seed, and moments to wait for (docs/simulator.md). */
import { deadlineSchedules } from "./DeadlineSchedules.ts";
import { diskSchedules } from "./DiskSchedules.ts";
import { enrollmentSchedules } from "./EnrollmentSchedules.ts";
import { keySchedules } from "./KeySchedules.ts";
import { keySwarm } from "./KeySwarm.ts";
import { networkSchedules } from "./NetworkSchedules.ts";
import { processSchedules } from "./ProcessSchedules.ts";
import { promotionSchedules } from "./PromotionSchedules.ts";
import { restoreSchedules } from "./RestoreSchedules.ts";
import { rivalSchedules } from "./RivalSchedules.ts";
import type { Family, Schedule } from "./Schedule.ts";
import { scarcitySchedules } from "./ScarcitySchedules.ts";
import { swarm } from "./Swarm.ts";
import { traitorSchedules } from "./TraitorSchedules.ts";

const schedules = {
  swarm,
  // Right behind it, and together as often as it alone before: every other seed draws what it drew.
  "swarm-of-keys": keySwarm,
  calm: { share: 50, isRoomy: true, marks: { "answered 201": 2, "answered Replaced": 3 }, plan: () => ({}) },
  ...networkSchedules,
  ...processSchedules,
  ...diskSchedules,
  ...deadlineSchedules,
  ...rivalSchedules,
  ...enrollmentSchedules,
  ...restoreSchedules,
  ...promotionSchedules,
  ...keySchedules,
  ...traitorSchedules,
  ...scarcitySchedules,
} satisfies Family;

export type ScheduleName = keyof typeof schedules;
export const scheduleNames = Object.keys(schedules) as ReadonlyArray<ScheduleName>;

export const isSchedule = (name: string): name is ScheduleName => Object.hasOwn(schedules, name);

export const scheduleNamed = (name: ScheduleName): Schedule => schedules[name];
