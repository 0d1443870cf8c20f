/** S23: a message that was handled and comes again, byte for byte, writes nothing. */
import type { Capacities } from "../../core/base/Capacities.ts";
import type { Message } from "../../core/Message.ts";
import type { Forward } from "../../core/protocol/Forward.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { statementsIn } from "./StatementsIn.ts";
import { Violation } from "../base/Violation.ts";
import { voteText } from "./Votes.ts";

/** More are not listed: a message may bring hundreds. */
const MOST_VOTES = 3;
const MOST_ROWS = 6;

const broughtBy = ({ product }: Ghost, message: Message): string => {
  const votes = statementsIn(product, message).slice(0, MOST_VOTES);
  return votes.map((vote) => `, with peer ${vote.header.peerId}'s ${voteText(vote)}`).join("");
};

const rowsText = (writes: ReadonlyArray<Write>): string =>
  writes
    .slice(0, MOST_ROWS)
    .map(({ op, table, key }) => `${op} ${table}/${key}`)
    .join(", ");

/**
 * What a peer passes over for want of these it takes for new once there is room: it says nothing about a proposal that
 * it can neither prepare nor refuse.
 */
const PROPOSALS = ["refusals", "preparations", "slotWindow"] as const;
const needed: { readonly [tag: string]: ReadonlyArray<keyof Capacities> } = {
  Prepare: PROPOSALS,
  AbortRequest: PROPOSALS,
  SettleQuery: PROPOSALS,
};

const isPassedOver = ({ capacities }: Ghost, { _tag }: Message): boolean =>
  needed[_tag]?.some((room) => capacities[room] !== undefined) === true;

/** Rows that go with the next transaction, whatever that is about. */
const RIDES_ALONG: ReadonlySet<string> = new Set(["counters", "seen", "outbox"]);

const isDropped = ({ table, op }: Write): boolean => table === "pending" && op === "remove";

/**
 * What all have made is proposed with the next event of its writer, or goes with it where nobody waits for it any more,
 * whichever event that is.
 */
const goesOn = (transactions: number, writes: ReadonlyArray<Write>): boolean =>
  transactions === 1 &&
  ((writes.some(isDropped) && writes.every((write) => isDropped(write) || RIDES_ALONG.has(write.table))) ||
    writes.some(
      (write) => write.table === "preparations" && write.op === "insert" && write.row.proposal.kind === "KEYGEN",
    ));

/** A writer that lies calls stable what its message completes; when that comes again, what it superseded goes. */
const isStableSince = (ghost: Ghost, message: Message, writes: ReadonlyArray<Write>): boolean => {
  const writer = ghost.membership?.writer;
  return (
    message._tag === "Commit" &&
    message.certificates.some(({ proposal }) => proposal.seq <= message.stableSeq) &&
    writer !== undefined &&
    ghost.isLying(writer) &&
    writes.some(({ table }) => table === "shares") &&
    writes.every(({ table, op }) => RIDES_ALONG.has(table) || (table === "shares" && op === "remove"))
  );
};

export const S23 = (ghost: Ghost): Checker => {
  /** By slot and id, all that were ever stored. A refused session leaves no trace, and there may be room for it later. */
  const sessions = new Set<string>();

  /** By slot and request id of a liar's forwards: an attestation, or undefined where two calls came under one id. */
  const forwards = new Map<string, string | undefined>();
  const nameOf = (slot: number, { requestId }: Forward): string => `${slot} ${requestId}`;

  /** While the one is under way the other is passed over, and may be taken for new later. */
  const isOneOfTwo = (slot: number, message: Message): boolean => {
    if (message._tag !== "Forward") return false;
    const name = nameOf(slot, message.forward);
    return forwards.has(name) && forwards.get(name) === undefined;
  };

  const isTaken = (slot: number, writes: ReadonlyArray<Write>): boolean =>
    writes.some(({ table, op, key }) => table === "sessions" && op === "insert" && !sessions.has(`${slot} ${key}`));

  return {
    id: "S23",
    written: {
      sessions: ({ slot }, { op, key }) => {
        if (op !== "remove") sessions.add(`${slot} ${key}`);
      },
    },
    delivered: ({ slot }, message) => {
      if (message._tag !== "Forward" || (ghost.lying & maskOf(message.forward.entryPeer)) === 0) return;
      const name = nameOf(slot, message.forward);
      const { attestation } = message.forward;
      forwards.set(name, !forwards.has(name) || forwards.get(name) === attestation ? attestation : undefined);
    },
    redelivered: ({ slot, honest }, message, transactions, writes) => {
      if (
        !honest ||
        transactions === 0 ||
        isOneOfTwo(slot, message) ||
        isPassedOver(ghost, message) ||
        (transactions === 1 && isStableSince(ghost, message, writes)) ||
        goesOn(transactions, writes)
      )
        return;
      if (message._tag === "Session.Mirror" && transactions === 1 && isTaken(slot, writes)) return;
      throw new Violation(
        "S23",
        `peer ${slot} had handled this ${message._tag}${broughtBy(ghost, message)}`,
        `the same bytes again made it write ${transactions} transaction(s), of ${rowsText(writes)}, and a message is handled once`,
      );
    },
  };
};
