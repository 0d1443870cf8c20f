/** S8: a credential of an authenticator at a relying party has one approver, reserved or committed at any honest peer. */
import { effectsIn } from "../models/Effects.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { OneOwner } from "./OneOwner.ts";

/** RP and credential from the descriptor of a passkey, whatever index the peers keep. */
const credentialIn = (descriptor: string): string => {
  const { rpId, credentialId }: { readonly [name: string]: unknown } = JSON.parse(descriptor);
  return `${rpId} ${credentialId}`;
};

const credentialOf = ({ descriptor }: Rows["approvers"]): string | undefined =>
  descriptor.includes('"WEBAUTHN"') ? credentialIn(descriptor) : undefined;

export const S8 = (ghost: Ghost): Checker => {
  const credentials = new OneOwner(ghost, "S8", "credential", credentialOf);
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
        credentials.reserve(slot, credentialIn(descriptor), ref, write.op !== "remove");
      },
      approvers: ({ slot, honest }, write) => {
        if (!honest || write.op !== "insert") return;
        const credential = credentialOf(write.row);
        if (credential !== undefined) credentials.commit(slot, credential, write.row.ref);
      },
    },
  };
};
