/**
 * S58: no caller waits, or is left in doubt, for nothing. One that is turned away for certain by the writer is told so,
 * as long as its peer can remember it, and no more often than that; and nobody waits long for a writer that says nothing.
 * A writer forgets nobody whose request it has taken.
 */
import type { Message } from "../../core/Message.ts";
import type { Rejection } from "../../core/base/Rejection.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Checker, Reply, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { votesOnRequest } from "./Votes.ts";
import { WaitingCallers } from "./WaitingCallers.ts";
import { Violation } from "../base/Violation.ts";

/** Denials that a peer of the service remembers. */
const OF_SERVICE = 4_096;
/** For so long a denial matters, in microseconds; and how far an answer may lag behind the step that gave it. */
const MATTERS_MICROS = 120_000_000;
const LAG_MICROS = 5_000_000;
/** A writer counts as silent after two seconds, and a look is every half second. */
const SILENCE_MICROS = 3_200_000;

/** Whoever asks for this begins anew when it repeats it: a "no" is certain, remembered or not. */
const BEGINS_ANEW = "OPTIONS";

/** A certain "no": when, in microseconds, and whether it was to be remembered. */
interface Told {
  readonly at: number;
  readonly mattered: boolean;
}

/** What one process has asked the writer for its callers, and heard. */
interface Asker {
  /** By request: which peer it was forwarded to, and when first, in microseconds. */
  readonly forwarded: Map<string, { readonly to: PeerId; readonly at: number }>;
  /** By request: in which words the writer turned it away for certain. */
  readonly denials: Map<string, string>;
  /** By peer: when it was last heard. */
  readonly heard: Map<PeerId, number>;
  /** Each time that it told a caller for certain that nothing was done, or was to tell one that had gone. */
  told: ReadonlyArray<Told>;
  /** A writer remembers its own callers too, and may become another member that is not the writer. */
  hasBeenWriter: boolean;
  /** At the writer. */
  readonly waiting: WaitingCallers;
}

const begun = (): Asker => ({
  forwarded: new Map(),
  denials: new Map(),
  heard: new Map(),
  told: [],
  hasBeenWriter: false,
  waiting: new WaitingCallers(),
});

/** Whether a peer takes in what it is told. */
const isFit = ({ cluster, fitness, rejoining }: PeerState): boolean =>
  cluster.membership !== undefined &&
  fitness.unsealed &&
  fitness.quarantine === undefined &&
  fitness.integrityFault === undefined &&
  rejoining.recovery === undefined;

export const S58 = (ghost: Ghost): Checker => {
  const most = ghost.capacities.denialsRemembered ?? OF_SERVICE;
  const all: Array<Asker> = [];
  const askerAt = (slot: number): Asker => (all[slot] ??= begun());
  const forget = ({ slot }: Watched): void => void (all[slot] = begun());

  /** Whether a peer has ever signed for a request of its caller: then that proposal's end decides. */
  const hasSignedFor = (slot: number, requestId: string): boolean => {
    for (const { proposal, receipts, applied } of ghost.proposals.values())
      if (
        proposal.entryPeer === slot &&
        proposal.requestId === requestId &&
        ((receipts | applied) & maskOf(slot)) !== 0
      )
        return true;
    return false;
  };

  const assertRemembered = (slot: number, asker: Asker, { requestId, repliedAt }: Reply, mattered: boolean): void => {
    const since = repliedAt - MATTERS_MICROS + LAG_MICROS;
    const known = asker.told.filter(({ at }) => at >= since - 2 * LAG_MICROS);
    asker.told = [...known, { at: repliedAt, mattered }];
    const count = asker.told.filter((each) => each.mattered && each.at >= since).length;
    if (count > most)
      throw new Violation(
        "S58",
        `peer ${slot} remembers for two minutes whom it told for certain that nothing was done, and ${most} of them`,
        `request ${requestId} is the ${count}th in less than that`,
      );
  };

  const assertToldForCertain = (slot: number, asker: Asker, { requestId, repliedAt }: Reply, said: Rejection): void => {
    if (asker.hasBeenWriter || asker.denials.get(requestId) !== said.detail) return;
    const since = repliedAt - MATTERS_MICROS - LAG_MICROS;
    const isFull = asker.told.filter((each) => each.at >= since).length >= most;
    if (isFull || hasSignedFor(slot, requestId)) return;
    throw new Violation(
      "S58",
      `the writer told peer ${slot} that request ${requestId} has come to nothing: ${said.detail}`,
      `its caller was told that nobody knows; ${votesOnRequest(ghost, slot, requestId)}`,
    );
  };

  const assertSoon = (slot: number, asker: Asker, { requestId, undisturbedSince, repliedAt }: Reply): void => {
    const forward = asker.forwarded.get(requestId);
    if (undisturbedSince === undefined || forward === undefined) return;
    const { to, at } = forward;
    if ((asker.heard.get(to) ?? 0) >= at || repliedAt - at <= SILENCE_MICROS) return;
    throw new Violation(
      "S58",
      `peer ${slot} forwarded request ${requestId} to peer ${to} at ${at} µs and has heard nothing of it since`,
      `its caller waited for that until ${repliedAt} µs`,
    );
  };

  /** @param counts whether the peer takes in what the sender says */
  const noteSaid = (asker: Asker, message: Message, at: number, counts: boolean): void => {
    if (message._tag !== "Outcome" || message.outcome._tag !== "Rejected") return;
    const { detail, outcomeUnknown } = message.outcome.rejection;
    if (outcomeUnknown) return;
    asker.told = [...asker.told, { at, mattered: false }];
    if (counts && !asker.denials.has(message.requestId)) asker.denials.set(message.requestId, detail);
  };

  return {
    id: "S58",
    booted: forget,
    stopped: forget,
    stepped: ({ slot, honest, state, decidedAt }) => {
      if (state === undefined) return;
      if (!isFit(state)) all[slot]?.denials.clear();
      const isWriter = state.cluster.membership?.writer === slot;
      if (!isWriter || !isFit(state)) all[slot]?.waiting.forget();
      if (!isWriter) return;
      const asker = askerAt(slot);
      asker.hasBeenWriter = true;
      const lost = isFit(state) ? asker.waiting.lost(state, decidedAt) : undefined;
      if (lost !== undefined && honest && !ghost.isLying(slot))
        throw new Violation("S58", `peer ${slot} has taken ${lost}`, "it holds it no more and has answered nothing");
    },
    sent: ({ slot }, message, to, at) => {
      if (message._tag === "Outcome") all[slot]?.waiting.answered(to, message.requestId, at);
      if (message._tag !== "Forward") return;
      const { forwarded } = askerAt(slot);
      const { requestId } = message.forward;
      if (!forwarded.has(requestId)) forwarded.set(requestId, { to, at });
    },
    delivered: ({ slot, state }, message, from, at) => {
      const asker = askerAt(slot);
      asker.heard.set(from, at);
      const isWriter = from === state?.cluster.membership?.writer;
      noteSaid(asker, message, at, isWriter && state !== undefined && isFit(state));
    },
    replied: ({ slot, honest }, reply) => {
      const asker = all[slot];
      asker?.waiting.answered(slot, reply.requestId, reply.repliedAt);
      if (asker === undefined || !asker.forwarded.has(reply.requestId)) return;
      const { answer, asked, requestId } = reply;
      if (honest && !ghost.isLying(slot)) {
        assertSoon(slot, asker, reply);
        if (answer._tag === "Rejected") {
          const { rejection } = answer;
          if (rejection.outcomeUnknown) assertToldForCertain(slot, asker, reply, rejection);
          else assertRemembered(slot, asker, reply, asked !== undefined && asked.kind !== BEGINS_ANEW);
        }
      }
      asker.forwarded.delete(requestId);
      asker.denials.delete(requestId);
    },
  };
};
