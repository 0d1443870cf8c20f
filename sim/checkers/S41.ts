/**
 * S41: a message that has to be refused has no effect. Whether it has to be is judged by what anybody can see: who may
 * say such a thing, and whether the receiver has asked for it. What only signatures tell is left to S2, S3 and S31.
 */
import { absurd } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { MakingState } from "../../core/commands/makeKey/MakingState.ts";
import type { RepairState } from "../../core/commands/repairShare/RepairState.ts";
import type { SigningState } from "../../core/commands/signWithKey/SigningState.ts";
import type { Message } from "../../core/Message.ts";
import { isOfModule } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

/** What only the writer says. */
const ofWriter: ReadonlySet<string> = new Set(["Prepare", "Outcome", "Forwarded", "Session.Mirror", "Keygen.Open"]);

type KeyMessage = Extract<Message, { readonly _tag: `Keygen.${string}` | `Sign.${string}` | `Repair.${string}` }>;

const isOfKeys = (message: Message): message is KeyMessage => /^(?:Keygen|Sign|Repair)\./u.test(message._tag);

/** The memory of the modules of keys, as far as it says what a peer has to do with whom. */
interface OfKeys {
  readonly makeKey?: Pick<MakingState, "sessions" | "pending">;
  readonly signing?: Pick<SigningState, "bySession">;
  readonly repairs?: RepairState;
}

/** The same for what is said while keys are made, used and repaired. */
const keyFaultOf = (state: PeerState, self: PeerId, from: PeerId, message: KeyMessage): string | undefined => {
  const { makeKey, signing, repairs }: OfKeys = state.modules;
  const writer = state.cluster.membership?.writer;
  const hasAsked = (sessionId: Digest): boolean => signing?.bySession.has(sessionId) === true;
  switch (message._tag) {
    case "Keygen.Share":
    case "Keygen.Stored":
      if (message._tag === "Keygen.Stored" && self !== writer) return "it is not the writer";
      return makeKey?.sessions.has(message.sessionId) === true ? undefined : "it makes no key of that name";
    case "Keygen.Ended":
      return self === writer || from === writer ? undefined : "only the writer ends it for others";
    case "Sign.Commit":
    case "Sign.Refused":
      return hasAsked(message.sessionId) ? undefined : "it signs nothing of that name";
    case "Sign.Share":
      return message.items.some(({ sessionId }) => hasAsked(sessionId)) ? undefined : "it signs nothing of that name";
    case "Repair.Sum":
    case "Repair.Refused": {
      const all = [...(repairs?.repairs.values() ?? [])];
      const isAsked = all.some(
        ({ session, helpers }) => session?.open.sessionId === message.sessionId && helpers.includes(from),
      );
      return isAsked ? undefined : "it has not asked for that help";
    }
    case "Repair.Key":
    case "Repair.Part": {
      const all = [...(repairs?.helping.values() ?? [])];
      const isBeside = all.some(({ sessionId, helpers }) => sessionId === message.sessionId && helpers.includes(from));
      return isBeside ? undefined : "it helps nobody beside that member";
    }
    case "Keygen.Open":
    case "Keygen.Package":
    case "Repair.Open":
    case "Sign.Open":
    case "Sign.Package":
      return undefined;
    default:
      return absurd(message);
  }
};

/** Why a member has nothing to do with a message; undefined where it may have. */
const faultOf = (state: PeerState, self: PeerId, from: PeerId, message: Message): string | undefined => {
  const { cluster, requests, rejoining } = state;
  const writer = cluster.membership?.writer;
  if (writer === undefined) return undefined;
  if (ofWriter.has(message._tag) && from !== writer) return "only the writer says that";
  if (message._tag === "Session.Votes") return self === writer ? undefined : "it has asked for none";
  if (isOfKeys(message)) return keyFaultOf(state, self, from, message);
  if (isOfModule(message)) return undefined;
  switch (message._tag) {
    case "Forward":
      if (self !== writer) return "it is not the writer";
      return message.forward.entryPeer === from ? undefined : "the request came in elsewhere";
    case "Outcome":
    case "Forwarded":
      return requests.awaited.has(message.requestId) ? undefined : "it waits for no such request";
    case "StoredAnswer":
      return requests.awaited.get(message.requestId)?.storedAt === undefined ? "it has not asked" : undefined;
    case "SnapshotOffer":
      if (rejoining.restored?.restoration.recoveryId !== message.recoveryId) return "it is for another restore";
      return rejoining.recovery === undefined ? "it is being restored no more" : undefined;
    case "GenesisCard":
    case "GenesisVote":
    case "GenesisPinned":
    case "GenesisRefused":
    case "Ready":
    case "ReadyProbe":
    case "Prepare":
    case "Votes":
    case "Commit":
    case "CommitAcks":
    case "SettleQuery":
    case "SettleAnswer":
    case "AbortRequest":
    case "SnapshotRequest":
    case "StoredQuery":
      return undefined;
    default:
      return absurd(message);
  }
};

/** What a message may change that comes from a member, whatever it says: the time it was heard, the versions it speaks. */
const slices = ["fitness", "rejoining", "signed", "registry", "undecided", "requests", "modules"] as const;

/** Whether the end of any event may go on with something that waits at this peer: requests, or shares to be tidied. */
const isWaiting = ({ cluster, requests: { queue, entering }, modules }: PeerState): boolean => {
  const { makeKey }: OfKeys = modules;
  // Of a request that was turned away at the end of an event, the writer ends the session with the next one.
  const isWriter = cluster.membership?.writer === cluster.peer?.peerId;
  const ending = isWriter ? (makeKey?.sessions.size ?? 0) : 0;
  return queue.length + entering.length + (makeKey?.pending.size ?? 0) + ending > 0;
};

export const S41 = (): Checker => ({
  id: "S41",
  handled: ({ slot, honest, state }, from, message, before, { transactions, said }) => {
    const self = before.cluster.peer?.peerId;
    if (!honest || self === undefined || isWaiting(before)) return;
    const fault = faultOf(before, self, from, message);
    if (fault === undefined) return;
    const changed = slices.find((slice) => state?.[slice] !== before[slice]);
    if (transactions === 0 && said === 0 && changed === undefined) return;
    throw new Violation(
      "S41",
      `peer ${slot} had to refuse a ${message._tag} of peer ${from}: ${fault}`,
      transactions > 0
        ? `it wrote ${transactions} transaction(s)`
        : changed === undefined
          ? `it said ${said} message(s)`
          : `it changed its ${changed}`,
    );
  },
});
