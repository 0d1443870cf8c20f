/** The signature of a peer that is alone with its key: one consent, one flush, and the answer. */
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { Step } from "../../protocol/Step.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { Secret } from "../../threshold/Secret.ts";
import type { KeyAnswer } from "../keys/Answers.ts";
import { heldShare } from "../keys/HeldShare.ts";
import { consent, consentFault } from "./Consents.ts";
import type { Signable } from "./Signable.ts";
import { reasonOf, tooFew, WRONG_SIGNATURE } from "./SigningRefusals.ts";
import type { Coordinated } from "./SigningState.ts";

const shareMissing = (self: PeerId): Rejection =>
  rejection(
    "SHARE_MISSING",
    "This peer has no private key of the generation that opens here.",
    "An operator restores the peer from its backup.",
    { members: [{ peerId: self, reason: reasonOf("SHARE_MISSING") }] },
  );

export const signSolo = (
  step: Step,
  {
    requestId,
    request,
    claims,
    line,
    occasion,
  }: Pick<Coordinated, "requestId" | "request" | "claims" | "line" | "occasion">,
  { generation, suite, message, messageDigest }: Signable,
  operation: Coordinated["operation"],
): void => {
  const { context, membership, self } = step;
  const { expiresAt } = occasion;
  const fault = consentFault(step, { operation, messageDigest, expiresAt });
  if (fault !== undefined)
    return step.reply(requestId, { _tag: "Rejected", rejection: tooFew(self, new Map([[self, fault]]), 1) });
  const secret = heldShare(context, membership, self, generation);
  if (secret === undefined) return step.reply(requestId, { _tag: "Rejected", rejection: shareMissing(self) });
  const entropy = new Secret(context.crypto.derive(context.entropy, `signature ${requestId}`));
  const signature = suite.solo.sign(secret, message, entropy);
  secret.wipe();
  entropy.wipe();
  // What a fault of this machine has computed could give the key away.
  if (!suite.verify(generation.publicKey, message, signature))
    return step.reply(requestId, { _tag: "Rejected", rejection: tooFew(self, new Map([[self, WRONG_SIGNATURE]]), 1) });
  consent(step, {
    operation,
    coordinator: self,
    request,
    claims,
    line,
    generation: generation.generation,
    messageDigest,
    expiresAt,
  });
  const answer: KeyAnswer = {
    _tag: "Signed",
    type: request.type,
    signature,
    generation: generation.generation,
    imposters: [],
    operationId: operation,
  };
  step.reply(requestId, answer);
};
