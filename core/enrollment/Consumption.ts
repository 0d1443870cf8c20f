/** What a certified finish changes beside the approver, in the same transaction (contract 3.1). */
import type { Digest } from "../Digest.ts";
import { InvariantViolation } from "../Invariant.ts";
import type { Effects } from "../protocol/Proposal.ts";
import type { Rows } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import { isCompletion } from "./Completion.ts";
import { markOf } from "./Sessions.ts";

/** The observations with the higher of two counters: no registration takes one back (contract 2.3). */
const merged = (stored: Rows["observations"] | undefined, initial: Rows["observations"]): Rows["observations"] =>
  stored === undefined || stored.signCount <= initial.signCount ? initial : { ...initial, signCount: stored.signCount };

/** That nobody else has the credential here and no other response the session: this peer held both locks since it checked. */
export const assertConsumable = (turn: Turn, id: Digest, effects: Effects): void => {
  const { view } = turn.context;
  const { ref, credentialIdentity, registrationId } = effects;
  const owner = credentialIdentity && view.get("credentials", credentialIdentity);
  if (owner && owner.ref !== ref)
    throw new InvariantViolation("S8", "a certified finish claims a credential that another approver has here");
  const completion = registrationId && view.get("completions", registrationId);
  if (completion && completion.proposalId !== id)
    throw new InvariantViolation("S15", "a certified finish completes a session that another response has completed");
};

/** The credential's owner, its observations, and the session's one response, which is that of this proposal. */
export const consume = (turn: Turn, id: Digest, effects: Effects): void => {
  if (!isCompletion(effects)) return;
  const { view } = turn.context;
  const { ref, credentialIdentity, observations, registrationId, responseDigest } = effects;
  turn.put("credentials", credentialIdentity, { ref });
  turn.put("observations", ref, merged(view.get("observations", ref), observations));
  turn.put("completions", registrationId, { proposalId: id });
  const row = view.get("sessions", registrationId);
  // Whoever was restored since it was opened may not have it.
  if (row === undefined) return;
  const done = { ...row, completed: { responseDigest, ref } };
  turn.write({ op: "replace", table: "sessions", key: registrationId, row: done });
  turn.edit("sessions").set(registrationId, markOf(done));
};

/** Takes back what an undone finish had left; its session stays void, for it pins a life that is over. */
export const unconsume = (turn: Turn, id: Digest, effects: Effects): void => {
  if (!isCompletion(effects)) return;
  const { view } = turn.context;
  const { ref, credentialIdentity, registrationId } = effects;
  if (view.get("credentials", credentialIdentity)?.ref === ref)
    turn.write({ op: "remove", table: "credentials", key: credentialIdentity });
  if (view.get("observations", ref) !== undefined) turn.write({ op: "remove", table: "observations", key: ref });
  if (view.get("completions", registrationId)?.proposalId === id)
    turn.write({ op: "remove", table: "completions", key: registrationId });
  const row = view.get("sessions", registrationId);
  if (row?.completed?.ref !== ref) return;
  const open = { ...row, completed: undefined };
  turn.write({ op: "replace", table: "sessions", key: row.session.registrationId, row: open });
  turn.edit("sessions").set(row.session.registrationId, markOf(open));
};
