/** What the boxes of a peer's vault hold, for the judge of its shares (K7). */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows, RowView } from "../../core/Tables.ts";
import type { PeerKeys } from "../crypto/Cryptography.ts";
import type { Watched } from "../checkers/Checker.ts";

interface Owner {
  readonly store: Pick<RowView, "get">;
  readonly peerId: number;
  readonly keys: PeerKeys;
}

/**
 * Opens boxes as the peer's keys do; undefined where they are of another place, or the peer belongs to no cluster. That
 * is asked of the disk, which outlives a process that ends at its flush.
 */
export const boxOpener =
  (owner: Owner): NonNullable<Watched["opened"]> =>
  ({ keyId, generation, transcript }: Rows["generations"], verifyingShare, box) => {
    const clusterId = owner.store.get("topology", SELF)?.topology.clusterId;
    if (clusterId === undefined) return undefined;
    const place = { clusterId, peerId: owner.peerId, keyId, generation, transcript, verifyingShare };
    return owner.keys.shareVault.open(place, box);
  };
