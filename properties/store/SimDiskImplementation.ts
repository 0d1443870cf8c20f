import { SimByteDisk } from "../../sim/disks/SimByteDisk.ts";
import type { Implementation } from "./Implementation.ts";

/** The simulator's disk; a flush ends at `advance`, a reopen is a process that ended between two commits. */
export const simulatedDisk: Implementation = {
  name: "the simulated disk",
  open: async () => {
    const disk = new SimByteDisk(
      () => {},
      () => {},
    );
    return {
      store: () => disk,
      hold: () => {},
      advance: () => disk.layers.endFlush("durable"),
      reopen: async () => {
        disk.layers.crash(false);
        disk.layers.makeDurable();
      },
      dispose: async () => {},
    };
  },
};
