/**
 * What a member gives to a restored one: its decided slots with their
 * certificates, a page at a time, and its registry root. It gives nothing while
 * something is undecided here: that could still change the root (protocol.md 4f,
 * S26).
 */
import type { Step } from "./Step.ts";
import type { MessageOf } from "./Message.ts";
import type { SnapshotItem } from "./Snapshot.ts";
import { hasSpan } from "./SnapshotSpan.ts";
import type { PeerId } from "./Topology.ts";
import { diskHere } from "./UnionPages.ts";

export const onSnapshotRequest = (step: Step, from: PeerId, message: MessageOf<"SnapshotRequest">): void => {
  const { state, context } = step;
  // Where all are being restored, the writer unites their disks; nobody else may take one for a registry.
  if (step.mode === "recovering" && from !== step.membership.writer) return;
  // Its new incarnation must be on record here: from then on nothing can be certified without it (D5).
  if (state.signed.seen.get(from)?.restored?.restoration.recoveryId !== message.recoveryId) return;
  if (state.undecided.preparations.size > 0) return;
  // The rows of a page lie all over the store: to verify all that lie around them would hold everything else up.
  if (!context.isWhole) return;
  const { recoveryId, nonce, after, here } = message;
  const offer = {
    _tag: "SnapshotOffer",
    recoveryId,
    nonce,
    after,
    cutoff: {
      topologyDigest: step.membership.digest,
      root: context.crypto.setDigest(state.registry.set),
      count: state.registry.approvers,
    },
  } as const;
  const own = ownOf(step, after === "");
  if (here !== undefined && hasSpan(step, after, here))
    return step.send(from, { ...offer, items: [], upTo: here.upTo, alike: here.digest, own });
  const page = context.view.scan("slots", after, step.capacities.offeredSlots);
  step.send(from, {
    ...offer,
    items: page.flatMap(({ key, row: { proposalId, outcome, writerReceipt } }): ReadonlyArray<SnapshotItem> => {
      // A slot that was refused here is not offered before its proposal has ended.
      if (outcome === "ABORTED") return [{ key, proposalId, certificate: undefined, writerReceipt }];
      const certificate = context.view.get("certificates", proposalId);
      return certificate === undefined ? [] : [{ key, proposalId, certificate, writerReceipt: undefined }];
    }),
    upTo: page[step.capacities.offeredSlots - 1]?.key,
    alike: undefined,
    own,
  });
};

/** What a union needs besides slots; present while this peer is being restored itself. */
const ownOf = (step: Step, isFirst: boolean): MessageOf<"SnapshotOffer">["own"] => {
  const {
    rejoining: { recovery, restored },
  } = step.state;
  if (recovery === undefined || restored === undefined) return undefined;
  const { incarnations, refused, strays } = diskHere(step);
  const { recoveryId } = restored.restoration;
  return { recoveryId, incarnations, refused: isFirst ? [...refused] : [], strays: isFirst ? [...strays] : [] };
};
