/**
 * K11: a consent is given in the minute before its deadline, which never moves, and stays until an hour after it, all by its signer's
 * clock. What goes then leaves a floor behind: nothing with a deadline up to that is consented to any more.
 */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** How long a consent outlives its deadline, in milliseconds. */
const KEPT_MILLIS = 3_600_000;

/** How far ahead of an operation its deadline is, and by how much clocks may differ. */
const LASTS_MILLIS = 60_000;
const SKEW_MILLIS = 5_000;

/** The floor that a transaction leaves. */
const floorAfter = ({ store }: Watched, writes: ReadonlyArray<Write>): number => {
  for (const write of writes)
    if (write.table === "consentFloor" && write.op !== "remove")
      return (write.row as { readonly expiresAt: number }).expiresAt;
  return store.get("consentFloor", SELF)?.expiresAt ?? 0;
};

export const K11 = (ghost: Ghost): Checker => {
  const assertOver = (peer: Watched, operation: string, deadline: number, floor: number): void => {
    const { slot, lastReading } = peer;
    const first = `peer ${slot} consented to operation ${operation}, whose deadline is ${deadline}`;
    if (lastReading - deadline <= KEPT_MILLIS)
      throw new Violation("K11", first, `it removed that at ${lastReading}, before an hour had gone by`);
    if (floor < deadline)
      throw new Violation("K11", first, `it removed that and would consent again to what ends after ${floor}`);
  };
  /** By slot: the latest time that its clock ever showed. */
  const shown = new Map<number, number>();
  return {
    id: "K11",
    delivered: ({ slot, lastReading }) => {
      if (lastReading > (shown.get(slot) ?? 0)) shown.set(slot, lastReading);
    },
    written: {
      consents: (peer, write, writes) => {
        if (!peer.honest || ghost.isLying(peer.slot)) return;
        const { slot } = peer;
        const { key } = write;
        if (write.op === "remove") {
          const deadline = ghost.keys.consentOf(key, slot)?.expiresAt;
          if (deadline !== undefined) assertOver(peer, key, deadline, floorAfter(peer, writes));
          return;
        }
        const { consentedAt, expiresAt } = write.row;
        if (write.op === "replace")
          throw new Violation("K11", `peer ${slot} had consented to operation ${key}`, "it changes that");
        // It was judged when its session was opened; the clock may have been put back since.
        const latest = Math.max(consentedAt, shown.get(slot) ?? 0);
        if (expiresAt > latest + LASTS_MILLIS + SKEW_MILLIS)
          throw new Violation(
            "K11",
            `operation ${key} has the deadline ${expiresAt}, and lasts for ${LASTS_MILLIS} ms`,
            `peer ${slot} consents to it at ${consentedAt}`,
          );
        const floor = floorAfter(peer, writes);
        if (consentedAt > expiresAt || expiresAt <= floor)
          throw new Violation(
            "K11",
            `operation ${key} has the deadline ${expiresAt}; consents with deadlines up to ${floor} are gone`,
            `peer ${slot} consents to it at ${consentedAt}`,
          );
      },
    },
  };
};
