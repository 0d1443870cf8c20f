/**
 * Consents: what this peer has agreed to sign, a row for each operation, flushed before its share of the signature
 * leaves. An operation is one message for ever: D covers the message, and the row holds it once more.
 *
 * A row goes an hour after its deadline. No operation is consented to twice for that, whatever the clock does then: the
 * latest deadline among removed rows stays, and nothing with a deadline up to it is consented to any more. That refuses
 * nothing new, unless clocks were ahead for more than an hour: deadlines lie a minute ahead at most, of the clock of
 * the day.
 */
import { Limits } from "../../base/Limits.ts";
import { canonicalJson } from "../../codec/CanonicalJson.ts";
import { auditOfKey } from "../../protocol/Audit.ts";
import type { Step } from "../../protocol/Step.ts";
import { SELF } from "../../protocol/Tables.ts";
import { keyRows, keyTables } from "../keys/Tables.ts";
import { commandOf } from "./SigningRequest.ts";
import { type Session, signings } from "./SigningState.ts";

export const CONSENTS_TIMER = "Sign.consents";

/** Rows looked at in one step, and how long until the next. */
const SWEPT_AT_ONCE = 512;
const NEXT_MILLIS = 500;
/** From one search through all rows to the next. */
const AGAIN_MILLIS = 60_000;

/** Why the operation is not consented to, if so. */
export const consentFault = (
  step: Step,
  { operation, messageDigest, expiresAt }: Pick<Session, "operation" | "messageDigest" | "expiresAt">,
): string | undefined => {
  if (step.now > expiresAt) return "EXPIRED";
  const rows = step.rows(keyTables);
  const given = rows.current("consents", operation);
  if (given !== undefined) return given.messageDigest === messageDigest ? undefined : "CONSENTED_TO_ANOTHER";
  const floor = keyRows(step.view).get("consentFloor", SELF);
  return floor !== undefined && expiresAt <= floor.expiresAt ? "EXPIRED" : undefined;
};

/** What is consented to. */
type Consent = Omit<Session, "sessionId" | "openedAt" | "nonce" | "timestamp" | "seed" | "commitments">;

/** Consents to it, in this step's transaction with its audit row, unless that was done before. */
export const consent = (step: Step, session: Consent): void => {
  const { operation, coordinator, request, claims, line, generation, messageDigest, expiresAt } = session;
  const rows = step.rows(keyTables);
  if (rows.current("consents", operation) !== undefined) return;
  const { keyId } = request;
  rows.put("consents", operation, {
    keyId,
    generation,
    messageDigest,
    expiresAt,
    consentedAt: step.now,
    coordinator,
    commandDigest: step.context.crypto.sha256OfText(canonicalJson(commandOf(request))),
  });
  auditOfKey(step, {
    event: "SIGN_CONSENTED",
    outcome: "CONSENTED",
    detail: `operation ${operation}`,
    id: operation,
    actor: { iss: claims.iss, sub: claims.sub, jti: claims.jti },
    keyId,
    generation,
    entryPeer: coordinator,
    request: line,
  });
  if (step.slice(signings).sweep.size === 0) step.editIn(signings, "sweep").set("after", "");
};

/** Sets the next search, while there may be something to find; called at the end of every event. */
export const armSweep = (step: Step): void => {
  if (step.slice(signings).sweep.size > 0) step.arm(CONSENTS_TIMER, AGAIN_MILLIS);
};

/** Removes some of the consents whose time is over. */
export const onConsentsTimer = (step: Step): void => {
  const { sweep } = step.slice(signings);
  const rows = step.rows(keyTables);
  const after = sweep.get("after");
  if (after === undefined) return;
  const page = rows.view.scan("consents", after, SWEPT_AT_ONCE);
  const over = page.filter(({ row }) => step.now - row.expiresAt > Limits.consentRetentionMillis);
  if (over.length > 0) {
    const floor = rows.view.get("consentFloor", SELF)?.expiresAt ?? 0;
    rows.put("consentFloor", SELF, { expiresAt: Math.max(floor, ...over.map(({ row }) => row.expiresAt)) });
    for (const { key } of over) rows.write({ op: "remove", table: "consents", key });
  }
  const last = page.at(-1);
  if (last !== undefined && page.length === SWEPT_AT_ONCE) {
    step.editIn(signings, "sweep").set("after", last.key);
    return step.arm(CONSENTS_TIMER, NEXT_MILLIS);
  }
  if (after === "" && page.length === over.length) step.editIn(signings, "sweep").clear();
  else step.editIn(signings, "sweep").set("after", "");
};
