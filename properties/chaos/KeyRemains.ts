/** Judges what a run left behind of keys: no secret anywhere but in boxes (K5), no box of an erased share (K9). */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { type Membership, membershipOf } from "../../core/protocol/Topology.ts";
import { Violation } from "../../sim/base/Violation.ts";
import type { FinalStore } from "./FinalStore.ts";
import { begunIn } from "./Journal.ts";
import { assertErased, assertNowhere, type Remains, sharesOf } from "./KeySecrets.ts";

/** One peer as it was left. */
export interface PeerRemains {
  readonly slot: number;
  readonly chaosFolder: string;
  /** Its data directory. */
  readonly directory: string;
  readonly final: FinalStore;
}

export interface KeyVerdict {
  readonly secrets: number;
  readonly shares: number;
  readonly looked: number;
  readonly violation: Violation | undefined;
}

const MOST = Number.MAX_SAFE_INTEGER;

const boxesIn = ({ store }: FinalStore): ReadonlyArray<Uint8Array> =>
  (["shares", "pending"] as const).flatMap((table) => store.scan(table, "", MOST).map(({ row }) => row.box));

const membershipIn = (crypto: Crypto, { store }: FinalStore): Membership | undefined => {
  const pinned = store.get("topology", SELF);
  return pinned && membershipOf(crypto, pinned.topology);
};

/** Never throws for a fault of the peers. */
export const judgeRemains = (crypto: Crypto, peers: ReadonlyArray<PeerRemains>, remains: Remains): KeyVerdict => {
  let seen = { secrets: 0, shares: 0, looked: 0 };
  try {
    const { secrets, boxes } = sharesOf(
      peers.map(({ slot, chaosFolder, final }) => ({
        slot,
        chaosFolder,
        transactions: begunIn(chaosFolder),
        shareVault: final.shareVault,
        membership: membershipIn(crypto, final),
      })),
    );
    seen = { secrets: secrets.length, shares: boxes.length, looked: 0 };
    seen.looked = assertNowhere(secrets, remains);
    for (const { directory, final } of peers) assertErased(directory, boxes, boxesIn(final));
    return { ...seen, violation: undefined };
  } catch (thrown) {
    if (thrown instanceof Violation) return { ...seen, violation: thrown };
    throw thrown;
  }
};
