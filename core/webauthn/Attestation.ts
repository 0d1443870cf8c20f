/** Attestation: what the statement of each format must prove (WebAuthn Level 3 section 8). */
import { androidKey } from "./AndroidKey.ts";
import { apple } from "./Apple.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { packed } from "./Packed.ts";
import type { StatementCheck } from "./StatementCheck.ts";
import { tpm } from "./Tpm.ts";

/** Section 8.7: nothing is claimed, so there is nothing to check. */
const none: StatementCheck = (_, { statement }) =>
  demand(statement.size === 0, "attestation_statement", "The statement of format none is not empty.");

/** Section 8.6. Its authenticators cannot verify a user, which the contract demands. */
const fidoU2f: StatementCheck = () => {
  throw new FailedCheck("attestation_format", "The format fido-u2f is unsupported: its authenticators verify no user.");
};

const formats: ReadonlyMap<string, StatementCheck> = new Map([
  ["none", none],
  ["packed", packed],
  ["tpm", tpm],
  ["android-key", androidKey],
  ["apple", apple],
  ["fido-u2f", fidoU2f],
]);

/**
 * Checks the statement of any format. A relying party that asks for `direct` attestation and names roots wants to know
 * what made the key: a statement without certificates says nothing about that, and would be a way around the roots.
 */
export const checkAttestation: StatementCheck = (crypto, input) => {
  const { format, statement, relyingParty } = input;
  const check = formats.get(format);
  if (check === undefined) throw new FailedCheck("attestation_format", "The attestation format is not supported.");
  check(crypto, input);
  const isDemanded = relyingParty.attestation === "direct" && relyingParty.trustRoots.length > 0;
  const isCertified = statement.has("x5c");
  demand(
    isCertified || !isDemanded,
    "attestation_required",
    "The attestation has no certificates that lead to a root.",
  );
};
