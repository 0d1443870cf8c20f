/** The format packed: WebAuthn Level 3 section 8.2. */
import { concatBytes } from "@noble/hashes/utils.js";
import type { StatementCheck } from "./StatementCheck.ts";
import { demand } from "./CeremonyRefusal.ts";
import { checkStatementSignature, statementSignature } from "./StatementSignature.ts";

const SELF = 2;

/** Self attestation: the credential's own key signs. */
export const packed: StatementCheck = (crypto, { statement, data, clientDataHash }) => {
  const signature = statementSignature(statement);
  demand(statement.size === SELF, "attestation_statement", "There is a member beside alg and sig.");
  const key = { kind: "EC", curve: "P-256", point: data.key.point } as const;
  checkStatementSignature(crypto, signature, key, concatBytes(data.bytes, clientDataHash));
};
