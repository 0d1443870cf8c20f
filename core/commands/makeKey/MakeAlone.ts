/** A peer that is alone makes a key by itself: nobody is asked, and its private key is its share. */
import type { Step } from "../../protocol/Step.ts";
import { Secret } from "../../threshold/Secret.ts";
import { UNSHARED } from "../keys/GroupRecord.ts";
import { shareBox } from "../keys/ShareBox.ts";
import { suiteHere } from "./KeygenRounds.ts";
import { PROCEED_TIMER } from "./KeygenTurn.ts";
import type { KeygenSession } from "./MakingState.ts";
import { baseOf } from "./MakingStanding.ts";
import { storePending } from "./PendingRows.ts";
import { transcriptDigest } from "./Transcript.ts";

/** Makes what the request asks for, or with a refresh stores the same private key as another generation. */
export const makeAlone = (
  step: Step,
  { sessionId, making, incarnations, old }: Pick<KeygenSession, "sessionId" | "making" | "incarnations" | "old">,
): void => {
  const { crypto, entropy } = step.context;
  const { requestDigest, keyId, base } = making;
  const seed = new Secret(crypto.derive(entropy, `keygen ${sessionId}`));
  const kept =
    old?._tag === "Held"
      ? { publicKey: baseOf(step.view, making).generation?.publicKey ?? "", secret: old.held.share.secret }
      : undefined;
  const { publicKey, secret } = kept ?? suiteHere(step, making).solo.keyOf(seed);
  const group = UNSHARED;
  const transcript = transcriptDigest(crypto, { sessionId, requestDigest, packages: [], publicKey, group });
  const named = { keyId, generation: base + 1, publicKey, group, transcript };
  const box = shareBox(step, named, secret, sessionId);
  secret.wipe();
  storePending(step, { ...named, sessionId, requestDigest, box, storedAt: step.now, incarnations });
  step.arm(PROCEED_TIMER, 0);
};
