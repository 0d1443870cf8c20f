/**
 * What a member gives to one that was restored: its decided slots with their
 * certificates, a page at a time, and what its registry comes to. It gives
 * nothing while something is undecided here: that could still change the root
 * (protocol.md 4f, S26).
 */
import type { Turn } from "./Turn.ts";
import { Limits } from "../base/Limits.ts";
import type { MessageOf } from "./Message.ts";
import type { SnapshotItem } from "./Snapshot.ts";
import type { PeerId } from "./Topology.ts";
import { diskHere } from "./UnionPages.ts";

export const onSnapshotRequest = (turn: Turn, from: PeerId, message: MessageOf<"SnapshotRequest">): void => {
  const { state, context } = turn;
  // Where all are being restored the writer puts together what they have; nobody else may take it for a registry.
  if (turn.mode === "recovering" && from !== turn.membership.writer) return;
  // Its new life must be on record here: from then on nothing can be certified without it (D5).
  if (state.signed.seen.get(from)?.restored?.restoration.recoveryId !== message.recoveryId) return;
  if (state.undecided.preparations.size > 0) return;
  const { recoveryId, nonce, after } = message;
  const page = context.view.scan("slots", after, Limits.batchProposals);
  turn.send(from, {
    _tag: "SnapshotOffer",
    recoveryId,
    nonce,
    after,
    cutoff: {
      topologyDigest: turn.membership.digest,
      root: context.crypto.setDigest(state.registry.set),
      count: state.registry.approvers,
    },
    items: page.flatMap(({ key, row: { proposalId, outcome, writerReceipt } }): ReadonlyArray<SnapshotItem> => {
      // Whoever refused keeps its refusal to itself until it has come to an end.
      if (outcome === "ABORTED") return [{ key, proposalId, certificate: undefined, writerReceipt }];
      const certificate = context.view.get("certificates", proposalId);
      return certificate === undefined ? [] : [{ key, proposalId, certificate, writerReceipt: undefined }];
    }),
    upTo: page[Limits.batchProposals - 1]?.key,
    own: ownOf(turn, after === ""),
  });
};

/** Of a member that is being restored itself. */
const ownOf = (turn: Turn, isFirst: boolean): MessageOf<"SnapshotOffer">["own"] => {
  const {
    rejoining: { recovery, restored },
  } = turn.state;
  if (recovery === undefined || restored === undefined) return undefined;
  const { lives, refused, strays } = diskHere(turn);
  const { recoveryId } = restored.restoration;
  return { recoveryId, lives, refused: isFirst ? [...refused] : [], strays: isFirst ? [...strays] : [] };
};
