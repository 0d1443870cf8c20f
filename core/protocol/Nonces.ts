/**
 * What a step draws and shows: nonces of questions, and names of sessions. Its entropy itself is shown to nobody, for
 * secrets are derived from it in the same way.
 */
import type { Digest } from "../base/Digest.ts";
import type { StepContext } from "./Event.ts";

/** @param what it is for; the same gives the same once more within a step, and is the beginning of no secret's label */
export const freshNonce = ({ context: { crypto, entropy } }: { readonly context: StepContext }, what: string): Digest =>
  crypto.sha256(crypto.derive(entropy, what));
