/** S19: a receipt is signed for the topology that its signer has durably pinned. */
import { topologyDigest } from "../../core/protocol/Topology.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

export const S19 = (ghost: Ghost): Checker => {
  const pinned = new Map<number, string>();
  /** By epoch. */
  const first = new Map<number, string>();
  return {
    id: "S19",
    written: {
      topology: ({ slot, honest }, write) => {
        // A member that is shown its topology begins as if it were restored.
        if ((!honest && !ghost.isRecovering(slot)) || write.op === "remove") return;
        const digest = topologyDigest(ghost.crypto, write.row.topology);
        const { epoch, prevDigest } = write.row.topology;
        const before = pinned.get(slot);
        if (before === digest) return;
        if (before !== undefined && before !== prevDigest)
          throw new Violation("S19", `peer ${slot} pinned topology ${before}`, `it pinned ${digest} afterwards`);
        const known = first.get(epoch) ?? digest;
        if (known !== digest)
          throw new Violation("S19", `a peer pinned topology ${known}`, `peer ${slot} pinned ${digest}`);
        first.set(epoch, digest);
        pinned.set(slot, digest);
      },
      preparations: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { topologyDigest: signedFor } = write.row.own.statement;
        if (signedFor !== pinned.get(slot))
          throw new Violation(
            "S19",
            `peer ${slot} signed a RECEIPT for topology ${signedFor}`,
            `its durable topology is ${pinned.get(slot) ?? "none"}`,
          );
      },
    },
  };
};
