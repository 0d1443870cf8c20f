/** Bugs in what a peer makes of its own clock, and of those of others. */
import type { PlantedBug } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";

/** The highest reading that a process has seen stays its time until a higher one comes. */
const neverBack = (): Tampering => {
  const latest = new Map<string, number>();
  return {
    clock: ({ slot, process }, reading) => {
      const name = `${slot} ${process}`;
      const now = Math.max(reading, latest.get(name) ?? reading);
      latest.set(name, now);
      return now;
    },
  };
};

export const clockBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "clock-never-back",
    changes: "one reading of a clock that was ahead is a peer's time until that has come",
    finds: "L4",
    schedule: "clocks-days-off",
    // With more peers it is named first, although its clock is right again.
    peers: 2,
    tampering: neverBack,
  },
  {
    name: "expired-by-a-jump",
    changes: "a token that was good until a peer's clock was set is refused for certain",
    finds: "S30",
    schedule: "clocks-days-off",
    // With more peers, the one whose clock is wrong is mostly named before any of them looks at a token.
    peers: 2,
    steps: 3_000,
    tampering: () => ({ trustsClock: true }),
  },
  {
    name: "other-clock-blamed",
    changes: "of two clocks that differ a peer takes its own for the right one, whatever the others say",
    finds: "S36",
    schedule: "clocks-days-off",
    tampering: () => ({
      answered: (world, answer) => {
        if (answer._tag !== "Rejected" || world.plan.peers === 1) return answer;
        const members = answer.rejection.members.map((fault) =>
          fault.reason.includes("its clock") ? { ...fault, peerId: (fault.peerId % world.plan.peers) + 1 } : fault,
        );
        return { ...answer, rejection: { ...answer.rejection, members } };
      },
    }),
  },
];
