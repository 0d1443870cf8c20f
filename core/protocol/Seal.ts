/** Sealing and unsealing as the protocol sees them: with the keys gone a peer neither votes nor acknowledges. */
import type { Step } from "./Step.ts";
import { freshNonce } from "./Nonces.ts";
import { auditOperators } from "./Audit.ts";
import { forgetPendingCallers } from "./PendingCallers.ts";
import { continueGenesis } from "./Genesis.ts";
import { join, takeUp } from "./Joining.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { beginDeclared } from "./Recovery.ts";
import { forgetInquiry } from "./PromotionRequest.ts";
import { goOnPromoting } from "./PromotionSource.ts";
import { recover } from "./TakingOver.ts";

/** The keys are here, and nothing is signed with them before the stored rows are known to hold. */
export const onVerifying = (step: Step): void => {
  step.draft("fitness").verifying = true;
};

/** The keys are here: founding, joining, and whatever a restart or a seal interrupted, go on. */
export const onUnsealed = (step: Step, acts?: ReadonlyArray<NumberedAct>): void => {
  step.draft("fitness").unsealed = true;
  step.draft("fitness").verifying = false;
  step.draft("fitness").process ??= freshNonce(step, "process");
  // The vault held the keys of another peer, or the row that names them was changed.
  if (step.context.signer?.publicKey !== step.state.cluster.peer?.identityKey)
    step.draft("fitness").integrityFault ??= "peer/self";
  auditOperators(step, acts);
  continueGenesis(step);
  beginDeclared(step);
  join(step);
  takeUp(step);
  recover(step);
  goOnPromoting(step);
};

export const onSealed = (step: Step, acts?: ReadonlyArray<NumberedAct>): void => {
  auditOperators(step, acts);
  step.draft("fitness").unsealed = false;
  step.draft("fitness").verifying = false;
  forgetInquiry(step, "it is sealed");
  forgetPendingCallers(step, "it is sealed");
};

export const onIntegrityLost = (step: Step, where: string): void => {
  step.draft("fitness").integrityFault ??= where;
  // The event that found the damage is lost, and with it perhaps a timer.
  step.timers.clear();
  forgetInquiry(step, "its stored records do not hold");
  forgetPendingCallers(step, "its stored records do not hold");
};
