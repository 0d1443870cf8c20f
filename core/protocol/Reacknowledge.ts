/**
 * Decisions without an acknowledgement of this incarnation: a restored member
 * took them from others, and its old acknowledgements no longer count. It
 * acknowledges them, once, when somebody asks (protocol.md 4i).
 */
import type { Digest } from "../base/Digest.ts";
import type { Step } from "./Step.ts";
import type { Decision } from "./Decision.ts";
import { signEach } from "./SignEach.ts";
import { acknowledgeAgain } from "./Slots.ts";

const isOwed = (step: Step, { ack }: Decision): boolean =>
  step.state.rejoining.restored !== undefined &&
  step.state.rejoining.unproven.size === 0 &&
  ack?.header.incarnation !== step.state.signed.chain.incarnation;

/**
 * Signs an acknowledgement for each of the decisions that has none, and hands all of them on, each with its
 * acknowledgement if there is one.
 */
export const reacknowledge = (
  step: Step,
  decided: ReadonlyMap<Digest, Decision>,
  run: (decided: ReadonlyMap<Digest, Decision>) => void,
): void => {
  const owed = [...decided].filter(([, decision]) => isOwed(step, decision));
  if (owed.length === 0) return run(decided);
  const all = new Map(decided);
  signEach(
    step,
    owed,
    ([proposalId, { outcome, seq }]) => ({
      kind: outcome === "APPLIED" ? "COMMIT_ACK" : "ABORT_ACK",
      proposalId,
      seq,
      detail: "",
    }),
    ([id, decision], ack) => {
      acknowledgeAgain(step, id, decision, ack);
      all.set(id, { ...decision, ack });
    },
    () => run(all),
  );
};
