/** Attestation: what the statement of each format must prove (WebAuthn Level 3 section 8). */
import { demand, Refused } from "./CeremonyRefusal.ts";
import { packed } from "./Packed.ts";
import type { StatementCheck } from "./StatementCheck.ts";

/** Section 8.7: nothing is claimed, so there is nothing to check. */
const none: StatementCheck = (_, { statement }) =>
  demand(statement.size === 0, "attestation_statement", "The statement of format none is not empty.");

/** Section 8.6. Its authenticators cannot verify a user, which the contract demands. */
const fidoU2f: StatementCheck = () => {
  throw new Refused("attestation_format", "The format fido-u2f is unsupported: its authenticators verify no user.");
};

const formats: ReadonlyMap<string, StatementCheck> = new Map([
  ["none", none],
  ["packed", packed],
  ["fido-u2f", fidoU2f],
]);

export const checkAttestation: StatementCheck = (crypto, input) => {
  const check = formats.get(input.format);
  if (check === undefined) throw new Refused("attestation_format", "The attestation format is not supported.");
  check(crypto, input);
};
