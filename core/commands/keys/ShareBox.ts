/** A share on its way to this peer's disk. */
import { Secret } from "../../threshold/Secret.ts";
import type { Step } from "../../protocol/Step.ts";
import { InvariantViolation } from "../../base/Invariant.ts";
import { sharePlace } from "./HeldShare.ts";

/**
 * Encrypts this peer's share of a generation as it rests from now on.
 *
 * @param label unique among the boxes of this step
 */
export const shareBox = (
  step: Step,
  generation: Parameters<typeof sharePlace>[2],
  secret: Secret,
  label: string,
): Uint8Array => {
  const { crypto, entropy, shareVault } = step.context;
  const place = sharePlace(step.membership, step.self, generation);
  if (shareVault === undefined || place === undefined)
    throw new InvariantViolation("S19", "a peer that is sealed, or has no share, was asked to store one");
  return shareVault.seal(place, secret, new Secret(crypto.derive(entropy, `share box ${label}`)));
};
