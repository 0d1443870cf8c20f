/** L8: while one member is down no newly arrived mutation succeeds. */
import type { Checker } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const L8 = (ghost: Ghost): Checker => {
  const downSince = new Map<number, number>();
  return {
    id: "L8",
    booted: ({ slot }) => void downSince.delete(slot),
    stopped: ({ slot }, at) => void downSince.set(slot, at),
    replied: ({ slot }, { answer, askedAt, requestId }) => {
      const isNew = answer._tag === "Replaced" || (answer._tag === "Registered" && answer.created);
      if (askedAt === undefined || !isNew) return;
      for (const [down, since] of downSince)
        if (since < askedAt && (ghost.members & maskOf(down)) !== 0)
          throw new Violation(
            "L8",
            `peer ${down} is down since ${since} µs`,
            `request ${requestId} arrived at peer ${slot} at ${askedAt} µs and changed the registry`,
          );
    },
  };
};
