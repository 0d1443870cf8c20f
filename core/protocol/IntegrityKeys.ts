/**
 * The key that this peer seals its rows with. A new key is recorded in a row that the one before seals, so these rows
 * form a chain from the key in the vault, and rows sealed with an older key hold under that one for ever (contract
 * 10.3, protocol.md 4i, docs/decisions/0020-integrity-key-history.md).
 */
import type { Event } from "./Event.ts";
import { type Rejection, rejection } from "../base/Rejection.ts";
import { numberKey, SELF } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { auditOperators } from "./Audit.ts";
import type { Mode } from "./Mode.ts";
import { sealed } from "./Unavailable.ts";

const refusalIn = (mode: Mode): Rejection => {
  if (mode === "blank") return rejection("NOT_INITIALIZED", "This peer is not initialized.", "Initialize it first.");
  if (mode !== "damaged") return sealed;
  return rejection(
    "INTEGRITY_FAILURE",
    "The stored records of this peer do not hold, and a new key would cover that up.",
    "Put back a backup of its data folder that is whole, and declare the restore.",
  );
};

/** Answers an operator who wants to change the keys of a peer that cannot use them or does not trust its rows. */
export const refuseNewKey = (step: Step, requestId: string): void =>
  step.reply(requestId, { _tag: "Rejected", rejection: refusalIn(step.mode) });

/** The vault is flushed, and with it the old shares are worth nothing here; the answer comes after that. */
export const onRekey = (step: Step, { requestId, vault, acts }: Extract<Event, { readonly _tag: "Rekey" }>): void => {
  auditOperators(step, acts);
  step.write({ op: "replace", table: "vault", key: SELF, row: { blob: vault } });
  step.reply(requestId, { _tag: "Rekeyed" });
};

/** The row is flushed, and the change is complete; the answer comes after that. */
export const onRotateIntegrity = (
  step: Step,
  { requestId, publicKey, blob, acts }: Extract<Event, { readonly _tag: "RotateIntegrity" }>,
): void => {
  // In this transaction, which the previous key seals.
  auditOperators(step, acts);
  const version = step.state.fitness.integrityVersion + 1;
  step.draft("fitness").integrityVersion = version;
  step.write({ op: "insert", table: "integrity", key: numberKey(version), row: { publicKey, blob } });
  step.reply(requestId, { _tag: "Rotated", version });
};
