/** S8: a credential of an authenticator at a relying party has one approver, reserved or committed at any honest peer. */
import { effectsIn } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { credentialOf } from "../models/approvers/Names.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { OneOwner } from "./OneOwner.ts";

export const S8 = (ghost: Ghost): Checker => {
  const credentials = new OneOwner(ghost, "S8", "credential", ({ descriptor }) => credentialOf(descriptor));
  return {
    id: "S8",
    booted: (peer) => credentials.booted(peer),
    written: {
      restore: ({ slot }) => credentials.restored(slot),
      preparations: ({ slot, honest }, write) => {
        if (!honest || write.op === "replace") return;
        const proposal =
          write.op === "remove" ? ghost.proposals.get(write.key as Digest)?.proposal : write.row.proposal;
        if (proposal?.kind !== "FINISH") return;
        const { descriptor, ref } = effectsIn(proposal);
        const credential = credentialOf(descriptor);
        if (credential !== undefined) credentials.reserve(slot, credential, ref, write.op !== "remove");
      },
      approvers: ({ slot, honest }, write) => {
        if (!honest || write.op !== "insert") return;
        const credential = credentialOf(write.row.descriptor);
        if (credential !== undefined) credentials.commit(slot, credential, write.row.ref);
      },
    },
  };
};
