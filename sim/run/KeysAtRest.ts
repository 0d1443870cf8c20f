/**
 * K8: when everything has come to rest, every member has the shares of the generations that are left and of no others,
 * and nothing that was made and not certified.
 */
import { allRows } from "../../core/protocol/AllRows.ts";
import type { RowView } from "../../core/Tables.ts";
import { type Ghost, maskOf } from "../checkers/Ghost.ts";
import type { Standing, Unrest } from "./Absence.ts";

interface Stored extends Standing {
  readonly store: RowView;
}

const RULE = "everything was healed, and a member has the shares of what is certified, and no others";

/** Who has which key from before a promotion, which one member alone may have. */
type Whole = Map<string, ReadonlyArray<number>>;

const remainder = (ghost: Ghost, { slot, store }: Stored, mayPend: boolean, whole: Whole): Unrest | undefined => {
  const [pending] = mayPend ? [] : allRows(store, "pending");
  if (pending !== undefined)
    return [
      "K8",
      RULE,
      `peer ${slot} still has what was made for generation ${pending.generation} of ${pending.keyId}`,
    ];
  // A restored peer has lost what was made since its disk was current, until somebody repairs it.
  const mayLack = ((ghost.restored | ghost.forgetful) & maskOf(slot)) !== 0;
  const shares = new Set(store.scan("shares", "", Number.MAX_SAFE_INTEGER).map(({ key }) => key));
  for (const { key, row } of store.scan("generations", "", Number.MAX_SAFE_INTEGER)) {
    // With a key everything of it goes, whatever its older generations were.
    const isThere = store.get("custodyKeys", row.keyId)?.status === "ACTIVE";
    const isWanted = isThere && (row.state === "ACTIVE" || row.state === "HISTORICAL");
    if (isWanted && ghost.total > 1 && row.group.verifyingShares.length === 0) {
      if (shares.delete(key)) whole.set(key, [...(whole.get(key) ?? []), slot]);
      continue;
    }
    if (shares.delete(key) === isWanted || (isWanted && mayLack)) continue;
    const what = isWanted ? "no share" : "a share";
    return [
      "K8",
      RULE,
      `peer ${slot} has ${what} of generation ${row.generation} of ${row.keyId}, which is ${row.state}`,
    ];
  }
  const [orphan] = shares;
  return orphan === undefined ? undefined : ["K8", RULE, `peer ${slot} has a share of ${orphan}, which is not there`];
};

/**
 * Why the keys of these peers are not at rest; undefined when they are.
 *
 * @param mayPend what was made and not certified is let be: a peer keeps it for a minute from its start on
 */
export const keyUnrestOf = (ghost: Ghost, peers: ReadonlyArray<Stored>, mayPend = false): Unrest | undefined => {
  const whole: Whole = new Map();
  for (const peer of peers) {
    const isJudged = peer.state !== undefined && !ghost.isLying(peer.slot);
    const found = isJudged ? remainder(ghost, peer, mayPend, whole) : undefined;
    if (found !== undefined) return found;
  }
  for (const [key, [first, second]] of whole)
    if (second !== undefined) return ["K8", RULE, `peers ${first} and ${second} both have the whole key of ${key}`];
  return undefined;
};
