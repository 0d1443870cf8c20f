/** S18: a member that has prepared takes a valid certificate, whatever its clock says and whatever became of the token. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Certificate } from "../../core/protocol/Certificate.ts";
import { proposalId } from "../../core/protocol/Proposal.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

interface Expectation {
  readonly process: number;
  readonly ids: Set<Digest>;
}

const mayApply = ({ state }: Watched): boolean =>
  state !== undefined &&
  state.fitness.unsealed &&
  state.fitness.integrityFault === undefined &&
  state.fitness.quarantine === undefined;

export const S18 = (ghost: Ghost): Checker => {
  const expected = new Map<number, Expectation>();
  const isValid = (id: Digest, { proposal, receipts }: Certificate): boolean => {
    const peerIds = ghost.signersFor(proposal)?.peerIds;
    return (
      receipts.length === peerIds?.length &&
      receipts.every((each, index) => each.header.peerId === peerIds[index] && ghost.isReceipt(id, each))
    );
  };
  return {
    id: "S18",
    delivered: (peer, message) => {
      if (message._tag !== "Commit" || !peer.honest || !peer.isIdle || !mayApply(peer)) return;
      for (const certificate of message.certificates) {
        const id = proposalId(ghost.crypto, certificate.proposal);
        // A member that has seen a refusal waits until another has applied it.
        const preparation = peer.state?.undecided.preparations.get(id);
        if (preparation === undefined || preparation.refusal !== undefined || !isValid(id, certificate)) continue;
        const known = expected.get(peer.slot);
        if (known?.process === peer.process) known.ids.add(id);
        else expected.set(peer.slot, { process: peer.process, ids: new Set([id]) });
      }
    },
    stepped: (peer) => {
      const waiting = expected.get(peer.slot);
      if (waiting === undefined || !peer.isIdle) return;
      expected.delete(peer.slot);
      if (waiting.process !== peer.process || !mayApply(peer)) return;
      for (const id of waiting.ids)
        if (peer.state?.undecided.preparations.has(id) === true)
          throw new Violation(
            "S18",
            `peer ${peer.slot} has prepared proposal ${id} and was handed a valid certificate`,
            "it handled the message and did not apply it",
          );
    },
  };
};
