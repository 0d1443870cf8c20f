/** Sealing and unsealing as the protocol sees them: with the keys gone a peer neither votes nor acknowledges. */
import { digest } from "../codec/Codec.ts";
import type { Turn } from "./Turn.ts";
import { auditOperators } from "./Audit.ts";
import { forgetCallers } from "./Callers.ts";
import { continueGenesis } from "./Genesis.ts";
import { join, takeUp } from "./Joining.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { PROCESS_TAG } from "./Moment.ts";
import { beginDeclared } from "./Recovery.ts";
import { recover } from "./TakingOver.ts";

/** The keys are here, and nothing is signed with them before it is known whether what is stored holds. */
export const onVerifying = (turn: Turn): void => {
  turn.draft("standing").verifying = true;
};

/** The keys are here: founding, joining and what a restart or a seal interrupted go on. */
export const onUnsealed = (turn: Turn, acts?: ReadonlyArray<NumberedAct>): void => {
  turn.draft("standing").unsealed = true;
  turn.draft("standing").verifying = false;
  turn.draft("standing").process ??= turn.context.crypto.digest(PROCESS_TAG, digest, turn.context.entropy);
  // The vault held the keys of somebody else, or the row that names them was changed.
  if (turn.context.signer?.publicKey !== turn.state.cluster.peer?.identityKey)
    turn.draft("standing").integrityFault ??= "peer/self";
  auditOperators(turn, acts);
  continueGenesis(turn);
  beginDeclared(turn);
  join(turn);
  takeUp(turn);
  recover(turn);
};

export const onSealed = (turn: Turn, acts?: ReadonlyArray<NumberedAct>): void => {
  auditOperators(turn, acts);
  turn.draft("standing").unsealed = false;
  turn.draft("standing").verifying = false;
  forgetCallers(turn, "it is sealed");
};

export const onIntegrityLost = (turn: Turn, where: string): void => {
  turn.draft("standing").integrityFault ??= where;
  // The event that found it is lost, and with it perhaps a timer.
  turn.timers.clear();
  forgetCallers(turn, "its stored records do not hold");
};
