/** The named schedules: each a plan drawn from a seed, and moments to wait for (docs/simulator.md). */
import { deadlineSchedules } from "./schedules/DeadlineSchedules.ts";
import { diskSchedules } from "./schedules/DiskSchedules.ts";
import { enrollmentSchedules } from "./schedules/EnrollmentSchedules.ts";
import { networkSchedules } from "./schedules/NetworkSchedules.ts";
import { processSchedules } from "./schedules/ProcessSchedules.ts";
import { restoreSchedules } from "./schedules/RestoreSchedules.ts";
import { rivalSchedules } from "./schedules/RivalSchedules.ts";
import type { Family, Schedule } from "./schedules/Schedule.ts";
import { swarm } from "./schedules/Swarm.ts";
import { traitorSchedules } from "./schedules/TraitorSchedules.ts";

const schedules = {
  swarm,
  calm: { plan: () => ({}) },
  ...networkSchedules,
  ...processSchedules,
  ...diskSchedules,
  ...deadlineSchedules,
  ...rivalSchedules,
  ...enrollmentSchedules,
  ...restoreSchedules,
  ...traitorSchedules,
} satisfies Family;

export type ScheduleName = keyof typeof schedules;
export const scheduleNames = Object.keys(schedules) as ReadonlyArray<ScheduleName>;
export const DEFAULT_SCHEDULE: ScheduleName = "swarm";

export const isSchedule = (name: string): name is ScheduleName => Object.hasOwn(schedules, name);

export const scheduleNamed = (name: ScheduleName): Schedule => schedules[name];
