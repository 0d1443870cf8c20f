/** The format apple: WebAuthn Level 3 section 8.8. The certificate, issued for this one response, is all the proof. */
import { concatBytes } from "@noble/hashes/utils.js";
import { sameBytes } from "../codec/Bytes.ts";
import { checkSameKey } from "./AndroidKey.ts";
import { Extensions } from "./Certificate.ts";
import { checkChain, readChain } from "./CertificateChain.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { octetsOf, sequenceOf, taggedOf } from "./Der.ts";
import type { StatementCheck } from "./StatementCheck.ts";

/** x5c, and alg in statements of older systems, which proves nothing. */
const KNOWN = ["x5c", "alg"];

/** Section 8.8, "Verification procedure". */
export const apple: StatementCheck = (crypto, { statement, data, clientDataHash, relyingParty, at }) => {
  const chain = readChain(statement);
  const isKnown = [...statement.keys()].every((key) => typeof key === "string" && KNOWN.includes(key));
  demand(isKnown, "attestation_statement", "There is a member that the format apple does not have.");
  const extension = chain.leaf.extensions.get(Extensions.appleNonce);
  if (extension === undefined) throw new FailedCheck("certificate_extension", "The certificate has no nonce.");
  const [tagged, ...others] = sequenceOf(extension.read("the nonce"), "the nonce");
  demand(others.length === 0, "certificate", "Something follows the nonce of the certificate.");
  const nonce = octetsOf(taggedOf(tagged, 1, "the nonce"), "the nonce");
  const expected = crypto.hash("SHA-256", concatBytes(data.bytes, clientDataHash));
  demand(sameBytes(nonce, expected), "apple_nonce", "The certificate was issued for another response.");
  checkSameKey(chain.leaf, data.key.point);
  checkChain(crypto, chain, relyingParty, at);
};
