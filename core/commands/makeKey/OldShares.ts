/**
 * The share that a refresh replaces serves nobody but a thief. It stays until every member is known to have applied the
 * refresh, and goes no later than the row of the outbox that reminds of it.
 */
import type { Digest } from "../../base/Digest.ts";
import { tellStable } from "../../protocol/Delivery.ts";
import type { Step } from "../../protocol/Step.ts";
import { eraseShare } from "../keys/KeyRows.ts";
import { generationKey, keyTables } from "../keys/Tables.ts";
import { keygenEffects } from "./KeygenEffects.ts";
import { makings } from "./MakingState.ts";
import { supersededIn } from "./Superseded.ts";

/** A refresh was applied here. */
export const noteRefreshed = (step: Step, id: Digest, effects: Uint8Array): void => {
  const superseded = supersededIn(keygenEffects.certified(effects));
  if (superseded !== undefined) step.editIn(makings, "superseded").set(id, superseded);
};

/** Erases what has waited long enough; called at the end of every event. */
export const eraseSuperseded = (step: Step): void => {
  const { superseded } = step.slice(makings);
  if (superseded.size === 0) return;
  const waiting = superseded.size;
  const open = new Set<Digest>();
  for (const { id, isPrunable } of step.state.undecided.outbox.values()) if (!isPrunable) open.add(id);
  for (const [id, { keyId, generation }] of superseded) {
    if (open.has(id)) continue;
    step.editIn(makings, "superseded").delete(id);
    // A restore may have taken the refresh back.
    const row = step.rows(keyTables).current("generations", generationKey(keyId, generation));
    if (row?.state === "SUPERSEDED") eraseShare(step, keyId, generation);
  }
  // The writer's reminders go with this transaction, so that it would not say by itself how far all have come.
  if (step.slice(makings).superseded.size < waiting) tellStable(step);
};
