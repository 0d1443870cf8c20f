/**
 * What a restored peer has of shares, once it has taken the registry over and all members agree on it. Until then all of
 * it stays: a share opens only beside its own generation, so it serves nobody meanwhile, and one that goes is gone.
 */
import type { Step } from "../../protocol/Step.ts";
import { generationNow } from "../keys/GenerationState.ts";
import { heldShare } from "../keys/HeldShare.ts";
import type { Generation } from "../keys/KeyRecord.ts";
import { takePending } from "../keys/KeyRows.ts";
import { keyRows, keyTables } from "../keys/Tables.ts";
import { erasePending, forgetMark } from "./PendingRows.ts";

/** The generation of a row's name as it is now; undefined where the registry has none of it. */
const generationAt = (step: Step, at: string): Generation | undefined => {
  const rows = keyRows(step.view);
  const stored = rows.get("generations", at);
  const key = stored && rows.get("custodyKeys", stored.keyId);
  return stored && key && generationNow(key, stored);
};

/** Whether members keep their shares of it. */
const isKept = (generation: Generation | undefined): generation is Generation =>
  generation?.state === "ACTIVE" || generation?.state === "HISTORICAL";

/** Whether the share that is stored is one of this very generation: another one of its number may have been undone. */
const isOf = (step: Step, generation: Generation): boolean => {
  if (step.context.shareVault === undefined) return true;
  const share = heldShare(step.context, step.membership, step.self, generation);
  share?.wipe();
  return share !== undefined;
};

/** What was made for a generation that is certified is its share, or serves nothing. There are few of these. */
const settlePending = (step: Step): void => {
  const rows = keyRows(step.view);
  for (const { key: at, row } of rows.scan("pending", "", step.capacities.pendingShares)) {
    const generation = generationAt(step, at);
    if (isKept(generation)) {
      takePending(step, generation);
      forgetMark(step, at);
    } else if (generation !== undefined || rows.get("custodyKeys", row.keyId)?.status === "DESTROYED")
      erasePending(step, at);
  }
};

/** Erases what no generation needs: destroyed, superseded, taken back, unknown. */
export const sweepShares = (step: Step, after: string, limit: number): string | undefined => {
  const rows = step.rows(keyTables);
  const page = rows.view.scan("shares", after, limit);
  for (const { key: at } of page) {
    const generation = generationAt(step, at);
    if (!isKept(generation) || !isOf(step, generation)) rows.write({ op: "remove", table: "shares", key: at });
  }
  // Then, as it may put the right share in the place of another that has just gone.
  if (after === "") settlePending(step);
  return page.length < limit ? undefined : page.at(-1)?.key;
};
