/** Rare or countable situations (Sometimes.ts) that an event shows, by their names. */
import { absurd } from "effect";
import type { Answer } from "../../core/Action.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { signingIn } from "../../core/commands/signWithKey/SigningState.ts";
import { Limits } from "../../core/base/Limits.ts";
import type { Message, MessageOf } from "../../core/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import type { Census } from "../base/Census.ts";
import { type Ghost, maskOf } from "../checkers/Ghost.ts";
import type { SimPeer } from "./SimPeer.ts";
import { isSuccess } from "../requests/Success.ts";

/** What an answer is counted as; the usual names are constants, since every map hashes a newly joined text anew. */
export const nameOfAnswer = (answer: Answer): string => {
  if (answer._tag === "Registered") return answer.created ? "answered 201" : "answered 200";
  if (answer._tag === "Replaced") return "answered Replaced";
  if (answer._tag === "KeyMade")
    return answer.created && answer.generation.generation === 1 ? "answered 201" : "answered 200";
  if (isSuccess(answer)) return `answered ${answer._tag}`;
  switch (answer._tag) {
    case "Rejected":
      return `answered ${answer.rejection.code}`;
    case "Initialized":
    case "Rotated":
    case "Rekeyed":
    case "Audited":
    case "Restoring":
    case "Promotion":
    case "Readiness":
      return `answered ${answer._tag}`;
    default:
      return absurd(answer);
  }
};

/** The situation that a reason shows which a caller is given for a member in the way. */
export const situationOfReason = (reason: string): string | undefined => {
  if (reason.startsWith("it cannot verify tokens")) return "a member in the way had no keys of tokens";
  return reason.startsWith("its clock ") ? "a clock was in the way" : undefined;
};

/** Whether a message holds all receipts for a proposal of which its receiver has seen a refusal. */
const isLate = ({ state }: SimPeer, message: Message): boolean => {
  if (message._tag !== "Commit" || state === undefined || state.undecided.preparations.size === 0) return false;
  return message.certificates.some(({ receipts: [first] }) => {
    const preparation = first && state.undecided.preparations.get(first.statement.proposalId);
    return preparation?.refusal !== undefined;
  });
};

const isMixed = (votes: ReadonlyArray<SignedStatement>): boolean =>
  votes.some(({ statement }) => statement.kind === "RECEIPT") &&
  votes.some(({ statement }) => statement.kind === "REFUSAL");

/** Whether somebody passes on a receipt of a third member that a peer does not have. */
const isHearsay = ({ slot, state }: SimPeer, from: PeerId, { items }: MessageOf<"SettleAnswer">): boolean =>
  items.some(({ proposalId, held }) => {
    const known = state?.undecided.preparations.get(proposalId)?.receipts;
    return held.some(
      ({ statement, header: { peerId } }) =>
        statement.kind === "RECEIPT" && peerId !== from && peerId !== slot && known?.has(peerId) === false,
    );
  });

/** Counts the situations that a message shows by itself, or by what its receiver has. */
export const countHeard = (marks: Census, peer: SimPeer, message: Message, from: PeerId): void => {
  if (message._tag === "Votes" && isMixed(message.statements)) marks.add("a batch of mixed votes");
  else if (message._tag === "SettleAnswer" && isHearsay(peer, from, message)) marks.add("a receipt of a third member");
  else if (message._tag === "SnapshotOffer") {
    const { items, after, upTo } = message;
    if (after !== "") marks.add("a registry taken over in several pages");
    if (items.length === 1 && upTo !== undefined) marks.add("a page of one slot");
    const transfer = peer.state?.rejoining.recovery?.transfer;
    if (transfer !== undefined && transfer.helper === from && message.cutoff.root !== transfer.root)
      marks.add("a helper offered another registry than it had");
  } else if (message._tag === "Sign.Share") {
    if (peer.state !== undefined && signingIn(peer.state).waiting.size > 0)
      marks.add("a request to sign waited in line");
  } else if (isLate(peer, message)) marks.add("a late certificate met a settlement");
};

/** The situation that a row change shows by itself. */
const rareIn = (write: Write): string | undefined => {
  if (write.op === "remove") return undefined;
  switch (write.table) {
    case "refusals":
      return `refused: ${write.row.refusal.statement.detail}`;
    case "counters":
      return write.row.quarantine === undefined ? undefined : "quarantined";
    case "preparations":
      return write.row.pledge === undefined ? undefined : "a member pledged";
    case "strays":
      return "a stray was kept";
    case "aborts":
      return "an abort waits for all";
    case "slots":
      return write.row.outcome === "APPLIED" && write.row.ack === undefined
        ? "applied and not yet acknowledged"
        : undefined;
    default:
      return undefined;
  }
};

interface Refused {
  readonly key: string;
  readonly row: Rows["refusals"];
}

/** Whether the writer aborts a round with coalesced callers; the state is still that of before. */
const isJoined = ({ state }: SimPeer, { table, op, key }: Write): boolean =>
  table === "aborts" && op === "insert" && (state?.undecided.rounds.get(key as Digest)?.coalesced.length ?? 0) > 0;

/** Whether a member applies what it had pledged not to. */
const isReleased = (ghost: Ghost, { slot, honest }: SimPeer, write: Write): boolean => {
  if (!honest || write.table !== "certificates" || write.op !== "insert") return false;
  return ((ghost.proposals.get(write.key as Digest)?.pledges ?? 0) & maskOf(slot)) !== 0;
};

/** Whether a member refuses a proposal because the token that its writer took has expired since. */
const isTokenOver = (ghost: Ghost, { slot }: SimPeer, { key, row }: Refused): boolean => {
  if (row.refusal.statement.detail !== "EXPIRED") return false;
  const { proposal } = ghost.proposals.get(key as Digest) ?? {};
  return (
    proposal !== undefined &&
    proposal.writer !== slot &&
    proposal.expiresAt < proposal.proposedAt + Limits.proposalMillis
  );
};

/** Counts the situations shown by a peer's transaction that has just become durable. */
export const countRare = (marks: Census, ghost: Ghost, peer: SimPeer, writes: ReadonlyArray<Write>): void => {
  let prepared = 0;
  let refused = 0;
  for (const write of writes) {
    if (write.op === "remove") continue;
    if (write.table === "preparations" && write.op === "insert") prepared += 1;
    const mark = rareIn(write) ?? (isReleased(ghost, peer, write) ? "applied after a pledge" : undefined);
    if (mark !== undefined) marks.add(mark);
    if (write.table === "refusals" && write.op === "insert") {
      refused += 1;
      if (isTokenOver(ghost, peer, write)) marks.add("a token expired between its writer and a voter");
    }
    if (isJoined(peer, write)) marks.add("a request that had joined a refused one was queued again");
  }
  if (prepared > 0 && refused > 0) marks.add("votes of one batch differed");
  if (prepared > 1) marks.add(prepared < 16 ? "a batch of several" : "a batch of 16 or more");
};
