/** The refusal of a part of the ceremony. */
import { FailedCheck } from "../../core/webauthn/CeremonyRefusal.ts";

/** The check that fails and its sentence, as "check: sentence"; undefined where nothing is refused. Rethrows others. */
export const refusalOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof FailedCheck)) throw cause;
    return `${cause.refusal.check}: ${cause.refusal.detail}`;
  }
};
