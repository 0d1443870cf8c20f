/**
 * S53: a refusal says what is so. A member is named for what it was, or had said of itself to whoever judged; where
 * members are in the way some are named; and a member's refusal is told with its own code, not as an absence. No caller
 * is told that the writer is silent while it speaks.
 */
import type { Rejection } from "../../core/base/Rejection.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Checker, Reply, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

type Ready = MessageOf<"Ready">;
type Named = Rejection["members"][number];

/** What a member was so short a time ago, in microseconds, may still be told, and its last states in any case. */
const RECENT_MICROS = 10_000_000;
const LAST = 3;

/** What a member had to say of itself, and until when in microseconds. */
interface State {
  readonly said: string | undefined;
  until: number;
}

/** Answers of one member that may still be the reason. */
const KEPT = 8;

/** How a peer speaks of itself; the naive mode that it must have been in. */
const ofItself = (state: PeerState): string | undefined => {
  const { cluster, fitness, rejoining } = state;
  if (cluster.peer === undefined) return "it is not initialized";
  if (!fitness.unsealed) return fitness.verifying ? VERIFIED : SEALED;
  if (cluster.membership === undefined) return "the cluster is not founded yet";
  if (fitness.integrityFault !== undefined) return DAMAGED;
  if (fitness.quarantine !== undefined) return OLD;
  if (rejoining.recovery !== undefined)
    return "it is recovering: it was restored and takes the registry from the other members";
  const stage = cluster.promotion.own?.stage;
  if (stage === "PINNED" || stage === "DECIDED")
    return "it is being promoted: changes go on when every member of its new cluster has the registry";
  if (rejoining.unproven.size > 0) return "it is joining: not every member has shown it yet that its memory is whole";
  // Whoever is alone asks; that it does not go on asking for ever is judged where callers are to get on.
  return cluster.membership.peerIds.length === 1
    ? "it was started, and asks the peers of its configuration whether it was promoted"
    : undefined;
};

/** A signature that too few members give. */
const FEW = /^Fewer than /u;

const SEALED = "it is sealed";
const VERIFIED = "its records are being verified";
const DAMAGED = "its stored records do not hold";
const OLD = "it ran from an old disk";

/** By reason: what a member must have said of itself. */
const ofOthers: Readonly<Record<string, (ready: Ready) => boolean>> = {
  [SEALED]: ({ sealed, mode }) => sealed && mode !== "verifying",
  [VERIFIED]: ({ sealed, mode }) => sealed && mode === "verifying",
  "it has not founded the cluster yet": ({ sealed, topologyDigest }) => !sealed && topologyDigest === undefined,
  [DAMAGED]: ({ sealed, integrityOk }) => !sealed && !integrityOk,
};

/** Any other mode is named by its word, where nothing worse was said. */
const ofMode =
  (named: string) =>
  ({ mode, sealed, integrityOk }: Ready): boolean =>
    mode === named && !sealed && integrityOk;

/** Whether it has a topology that is not that of these members; of several epochs nobody knows which was meant. */
const isElsewhere =
  ({ membership }: Ghost) =>
  ({ sealed, topologyDigest }: Ready): boolean =>
    !sealed &&
    topologyDigest !== undefined &&
    (membership?.before !== undefined || topologyDigest !== membership?.digest);

const fitting = (ghost: Ghost, reason: string): ((ready: Ready) => boolean) | undefined => {
  if (reason === "it belongs to another topology") return isElsewhere(ghost);
  const mode = /^it is (\w+)$/u.exec(reason)?.[1];
  return ofOthers[reason] ?? (mode === undefined ? undefined : ofMode(mode));
};

const selfReasons: ReadonlySet<string> = new Set([
  "it is not initialized",
  SEALED,
  VERIFIED,
  "the cluster is not founded yet",
  DAMAGED,
]);

/** Checks of a member that are refusals of the contract, and are told as such. */
const speaking: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "ACCESS_DENIED",
  "PREPARATION_CAPACITY",
  "INVALID_REQUEST_BODY",
  "KEY_ALREADY_REGISTERED",
  "CREDENTIAL_ALREADY_REGISTERED",
  "REGISTRATION_NOT_FOUND",
  "REGISTRATION_EXPIRED",
  "REGISTRATION_COMPLETED",
  "APPROVER_NOT_FOUND",
  "PRECONDITION_FAILED",
  "KEY_NOT_FOUND",
  "KEY_ALREADY_EXISTS",
  "KEY_DESTROYED",
  "GENERATION_MOVED",
  "GENERATION_NOT_FOUND",
  "GENERATION_IN_USE",
]);

/** A writer that has said nothing for two seconds is silent; what waits to be handled may have come since. */
const SILENCE_MICROS = 1_500_000;
const SILENT = "it does not answer";

/** What is in the way where no member is. */
const nameless: ReadonlyArray<RegExp> = [
  /^The request waited for its turn too long/u,
  /^An earlier change of the same approver or key/u,
  /^The writer (has not answered in time|named a record)/u,
  /^Too many changes wait/u,
  /^Too many changes (were|under .+ were) refused/u,
  /^This very request has made the change/u,
];

export const S53 = (ghost: Ghost): Checker => {
  /** By slot: what it lately had to say of itself, the newest last. */
  const lately: Array<Array<State>> = [];
  /** Microseconds, as far as messages and answers tell. */
  let now = 0;
  /** By slot, and by the member that answered it: its last answers. */
  const heard: Array<Map<PeerId, Array<Ready>>> = [];

  /** By slot: which process of it has heard the writer last, and when. */
  const writerHeard: Array<{ readonly process: number; readonly at: number } | undefined> = [];

  const assertSilent = ({ slot, process }: Watched, { requestId, repliedAt, asked }: Reply, told: Rejection): void => {
    // Of a signature it is told that a member was asked and has not committed, whatever else it says meanwhile.
    if (asked?.kind === "SIGN" || told.code === "SIGNING_QUORUM_UNAVAILABLE") return;
    const writer = ghost.membership?.writer;
    const last = writerHeard[slot];
    if (slot === writer || last === undefined || last.process !== process) return;
    if (!told.members.some(({ peerId, reason }) => peerId === writer && reason === SILENT)) return;
    if (repliedAt - last.at < SILENCE_MICROS)
      throw new Violation(
        "S53",
        `peer ${slot} answered request ${requestId}: the writer does not answer`,
        `it had heard the writer ${Math.floor((repliedAt - last.at) / 1_000)} ms before`,
      );
  };

  const saidTo = (slot: number, member: PeerId): ReadonlyArray<Ready> => heard[slot]?.get(member) ?? [];

  /** Requests of which another peer was told that they are refused. */
  const told = new Set<string>();

  /** By slot: what it has said of itself in a step whose state is not known yet. */
  const open: Array<Array<{ readonly reason: string; readonly assertSo: () => void }>> = [];

  const isSo = (slot: number, { peerId, reason }: Named): boolean => {
    const isOwn = selfReasons.has(reason) && (peerId === slot || peerId === ghost.membership?.writer);
    if (lately[peerId]?.some(({ said }) => said?.startsWith(reason)) === true) return true;
    const fits = fitting(ghost, reason);
    if (fits === undefined) return !isOwn;
    const judges = [slot, ghost.membership?.writer ?? slot];
    return judges.some((judge) => saidTo(judge, peerId).some(fits));
  };

  const assertNamed = (slot: number, requestId: string, members: ReadonlyArray<Named>): void => {
    for (const named of members) {
      const { peerId, reason } = named;
      const assertSo = (): void => {
        if (typeof reason === "string" && reason !== "" && isSo(slot, named)) return;
        throw new Violation(
          "S53",
          `peer ${slot} answered ${requestId}: peer ${peerId}: ${reason}`,
          `that peer neither was so nor said so; last it was: ${lately[peerId]?.at(-1)?.said ?? "ready"}`,
        );
      };
      if (peerId === slot) (open[slot] ??= []).push({ reason, assertSo });
      else assertSo();
    }
  };
  const settle = (slot: number): void => {
    for (const { assertSo } of open[slot]?.splice(0) ?? []) assertSo();
  };

  const assertTold = (slot: number, requestId: string, { code, detail, members }: Rejection): void => {
    if (code === "SIGNING_QUORUM_UNAVAILABLE" && FEW.test(detail) && members.length === 0)
      throw new Violation("S53", `peer ${slot} answered request ${requestId}: ${detail}`, "it names no member");
    if (code !== "APPROVER_REPLICATION_UNAVAILABLE") return;
    // One that lies refuses with codes of other commands too.
    const untold = members.find(({ peerId, reason }) => speaking.has(reason) && !ghost.isLying(peerId));
    if (untold !== undefined)
      throw new Violation(
        "S53",
        `peer ${untold.peerId} refused the change of request ${requestId} with ${untold.reason}`,
        `peer ${slot} answered ${code}`,
      );
    if (members.length === 0 && !nameless.some((each) => each.test(detail)))
      throw new Violation("S53", `peer ${slot} answered request ${requestId}: ${detail}`, "it names no member");
  };

  return {
    id: "S53",
    // Nobody knows any more in which state it was when it said so, in its last step.
    stopped: ({ slot }) => {
      for (const { reason } of open[slot]?.splice(0) ?? []) (lately[slot] ??= []).push({ said: reason, until: now });
    },
    sent: ({ slot, honest }, message) => {
      if (!honest || ghost.isLying(slot) || message._tag !== "Outcome" || message.outcome._tag !== "Rejected") return;
      // Whoever asks again may be told again what was so then.
      if (told.has(message.requestId)) return;
      told.add(message.requestId);
      const own = message.outcome.rejection.members.filter(({ peerId }) => peerId === slot);
      assertNamed(slot, message.requestId, own);
    },
    swept: (peers) => {
      for (const { slot, isIdle } of peers) if (isIdle) settle(slot);
    },
    stepped: ({ slot, state }) => {
      if (state === undefined) return;
      const said = ofItself(state);
      const known = (lately[slot] ??= []);
      const last = known.at(-1);
      if (last !== undefined) last.until = now;
      if (last === undefined || last.said !== said) known.push({ said, until: now });
      while (known.length > LAST && (known[0]?.until ?? now) < now - RECENT_MICROS) known.shift();
      settle(slot);
    },
    delivered: ({ slot, process, isIdle }, message, from, at) => {
      now = at;
      // What waits behind a flush has not been heard yet, and what nothing vouches for could be said by anybody.
      const isVouched = !message._tag.startsWith("Genesis") && !(message._tag === "Ready" && message.sealed);
      if (isIdle && isVouched && from === ghost.membership?.writer) writerHeard[slot] = { process, at };
      if (message._tag !== "Ready") return;
      const said = (heard[slot] ??= new Map<PeerId, Array<Ready>>());
      const answers = said.get(from) ?? [];
      if (answers.length >= KEPT) answers.shift();
      answers.push(message);
      said.set(from, answers);
    },
    replied: (peer, reply) => {
      const { slot, honest } = peer;
      const { requestId, answer, repliedAt } = reply;
      now = repliedAt;
      const writer = ghost.membership?.writer;
      if (!honest || ghost.isLying(slot) || (writer !== undefined && ghost.isLying(writer))) return;
      if (answer._tag === "Readiness") assertNamed(slot, requestId, answer.faults);
      if (answer._tag !== "Rejected") return;
      assertNamed(slot, requestId, answer.rejection.members);
      assertTold(slot, requestId, answer.rejection);
      assertSilent(peer, reply, answer.rejection);
    },
  };
};
