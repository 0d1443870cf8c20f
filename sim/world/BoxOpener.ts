/** What the boxes of a peer's vault hold, for the judge of its shares (K7). */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Rows } from "../../core/Tables.ts";
import type { PeerKeys } from "../crypto/Cryptography.ts";
import type { Watched } from "../checkers/Checker.ts";

interface Owner {
  readonly state: PeerState | undefined;
  readonly peerId: number;
  readonly keys: PeerKeys;
}

/** Opens boxes as the peer's keys do; undefined where they are of another place, or the peer knows no cluster. */
export const boxOpener =
  (owner: Owner): NonNullable<Watched["opened"]> =>
  ({ keyId, generation, transcript }: Rows["generations"], verifyingShare, box) => {
    const clusterId = owner.state?.cluster.membership?.topology.clusterId;
    if (clusterId === undefined) return undefined;
    const place = { clusterId, peerId: owner.peerId, keyId, generation, transcript, verifyingShare };
    return owner.keys.shareVault.open(place, box);
  };
