/** Time as one process of a peer has it: what it waits for waits while it stands still, and ends with it. */
import type { Time } from "../../runtime/Time.ts";
import { Violation } from "../base/Violation.ts";
import type { Ground } from "./Ground.ts";
import type { SimPeer } from "./SimPeer.ts";

/** Of the process that runs now. */
export const processTime = ({ scheduler, pauses }: Ground, peer: SimPeer): Time => {
  const { process } = peer;
  return {
    elapsedMillis: () => Math.floor(scheduler.now / 1_000),
    later: (run, afterMillis) => {
      // A real timer would fire at once.
      if (!Number.isFinite(afterMillis))
        throw new Violation("S51", `peer ${peer.slot} sets a timer`, `it is to fire in ${afterMillis} ms`);
      let isOff = false;
      const go = (): void => {
        if (!isOff && peer.isUp && peer.process === process) run();
      };
      scheduler.after(afterMillis * 1_000, () => {
        const waiting = pauses.waitingFor(peer);
        if (waiting === undefined) go();
        else waiting.push(go);
      });
      return () => {
        isOff = true;
      };
    },
  };
};
