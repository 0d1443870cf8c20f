/**
 * What one caller does costs no other one (S37): a caller turned away for want of room holds at least as much of it as
 * any that may stay, and none is taken for a duplicate that the writer knew to be none when it came.
 */
import type { Capacities } from "../../core/base/Capacities.ts";
import type { Answer } from "../../core/Action.ts";
import type { Outcome } from "../../core/protocol/Message.ts";
import type { MemberFault, Rejection } from "../../core/base/Rejection.ts";
import type { SimPeer } from "./SimPeer.ts";
import { Violation } from "../base/Violation.ts";

/** Places at a peer, few enough that callers take all of them. */
const FEW_PLACES = 64;

/**
 * Whether this is checked in a world whose peers have these capacities. A slow line has less room, though never less
 * than for a round: it may be too long for one more even if nobody in it held more than the newcomer.
 */
export const isCrowdable = ({ queuedCommands, proposalsPerMessage = FEW_PLACES }: Partial<Capacities>): boolean =>
  queuedCommands !== undefined && queuedCommands <= proposalsPerMessage;

/** So many bytes of bodies count as one more request. */
const PLACE_BYTES = 32 * 1024;

/** Whose an open request is, and how long its body. */
export type HolderOf = (requestId: string) => { readonly subject: string; readonly bytes: number } | undefined;

const isCode = (answer: Answer, code: string): boolean => answer._tag === "Rejected" && answer.rejection.code === code;

const weightOf = ({ bytes }: { readonly bytes: number }): number => 1 + bytes / PLACE_BYTES;

/**
 * Throws {@link Violation} when an entry peer turns a request away for want of room while another actor holds more
 * there. Not for the writer's own queue: in the step that turns a request away others of it may have been served.
 */
export const assertFair = (
  { slot, state }: SimPeer,
  requestId: string,
  answer: Answer,
  holderOf: HolderOf,
  places: number,
): void => {
  if (
    !isCode(answer, "REQUEST_CAPACITY") ||
    state?.cluster.membership === undefined ||
    state.cluster.membership.writer === slot
  )
    return;
  // What the writer says of a forwarded request is about its own queue; K16 judges the line of signatures, and S54 who has
  // to leave the gate.
  if (answer._tag === "Rejected" && /^The writer|^As many| signatures /u.test(answer.rejection.detail)) return;
  const mayGo = state.requests.entering.map((each) => each.requestId);
  const held = new Map<string, number>();
  for (const each of [...mayGo, ...state.requests.awaited.keys()]) {
    const holder = holderOf(each);
    // A request whose caller has given up is nobody's here, and takes up its actor's room there all the same.
    if (holder === undefined) return;
    held.set(holder.subject, (held.get(holder.subject) ?? 0) + weightOf(holder));
  }
  // With less room than usual, for want of pace, more than one would have to go, perhaps more than hold too much.
  if (mayGo.length + state.requests.awaited.size < places) return;
  const { subject: own, bytes } = holderOf(requestId) ?? { subject: "", bytes: 0 };
  // It was counted when it was turned away, and is gone now.
  const ownShare = (held.get(own) ?? 0) + weightOf({ bytes });
  for (const each of mayGo) {
    const subject = holderOf(each)?.subject;
    const share = subject === undefined ? 0 : (held.get(subject) ?? 0);
    if (share > ownShare)
      throw new Violation(
        "S37",
        `request ${requestId} of ${own}, which holds ${ownShare} places at peer ${slot}, was turned away for want of room`,
        `${subject}, whose request ${each} waits there, holds ${share}`,
      );
  }
};

/** What is known of a request when it is sent: the processes it meets, and whether the writer knows it to be new. */
export interface Arrival {
  readonly entry: number;
  readonly writer: number;
  readonly isNew: boolean;
}

/**
 * Whether the writer knows that a request that enters now is no copy of an earlier one: the entry peer's process has
 * shown itself to the writer before.
 *
 * @param elapsedMillis what every process measures durations on
 */
export const arrivalAt = (entry: SimPeer, writer: SimPeer, elapsedMillis: number): Arrival => {
  const until = writer.state?.requests.forgottenUntil.get(entry.slot);
  return {
    entry: entry.process,
    writer: writer.process,
    isNew:
      writer !== entry &&
      until !== undefined &&
      until.process === entry.state?.fitness.process &&
      Math.floor(elapsedMillis) > until.at,
  };
};

/** How a peer that may have forgotten a request speaks of itself, as operators read it. */
const FORGOTTEN = "it no longer knows what became of requests";

const forgottenIn = ({ members }: Rejection): MemberFault | undefined =>
  members.find(({ reason }) => reason.startsWith(FORGOTTEN));

/** Whether an answer says that the request may be a copy of an older one. */
export const saysForgotten = (outcome: Outcome): boolean =>
  outcome._tag === "Rejected" && forgottenIn(outcome.rejection) !== undefined;

/** Throws {@link Violation} when a caller that still waits is told that its request may be a copy of an older one. */
export const assertNotForgotten = (
  requestId: string,
  arrival: Arrival,
  entry: SimPeer,
  writer: SimPeer,
  answer: Answer,
): void => {
  if (!arrival.isNew || arrival.entry !== entry.process || arrival.writer !== writer.process) return;
  if (answer._tag !== "Rejected") return;
  const said = forgottenIn(answer.rejection);
  if (said === undefined) return;
  throw new Violation(
    "S37",
    `request ${requestId} came when process ${arrival.writer} of the writer knew it to be new`,
    `its caller, which still waits, is told: ${said.reason}`,
  );
};
