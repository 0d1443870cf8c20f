/**
 * A peer's state as named lines in sections, and what differs between two of
 * them. States are immutable and share what did not change, so that equal
 * references need no look.
 */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { fieldsOf, type StateFields } from "../../core/protocol/StateFields.ts";
import { callersOf } from "../../core/protocol/Answers.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import { type Mode, modeOf } from "../../core/protocol/Mode.ts";
import type { LaneMode } from "./PictureData.ts";
import { shortRef, type Topics } from "./Topics.ts";

/** A line: the text is for reading, the value for looking closer. */
export interface Line {
  readonly text: string;
  readonly value: unknown;
}

/** Section to name to line. */
export type Lines = ReadonlyMap<string, ReadonlyMap<string, Line>>;

interface Section {
  readonly name: string;
  readonly of: ReadonlyArray<keyof StateFields>;
  readonly lines: (state: StateFields, topics: Topics) => Iterable<readonly [string, Line]>;
}

const plain = (text: string | number | boolean, value: unknown = text): Line => ({ text: String(text), value });

const short = (text: string): string => (text.length > 16 ? `${text.slice(0, 8)}…` : text);

const members = (of: ReadonlyMap<number, unknown> | ReadonlySet<number>): string =>
  [...of.keys()].join(", ") || "nobody";

const kinds = (votes: Iterable<SignedStatement>): string =>
  [...votes].map(({ header, statement }) => `${header.peerId} ${statement.kind}`).join(", ");

/** A lock's name holds a digest, so only its beginning and its end are shown. */
const lockName = (lock: string): string => (lock.startsWith("key:") ? `key:${short(lock.slice(4))}` : shortRef(lock));

const sections: ReadonlyArray<Section> = [
  {
    name: "Peer",
    of: ["peer", "unsealed", "verifying", "integrityFault", "quarantine", "unproven", "joinNonce", "membership"],
    *lines({ peer, membership, unsealed, verifying, integrityFault, quarantine, unproven }) {
      yield ["initialized", plain(peer === undefined ? "no" : `as peer ${peer.peerId}`, peer)];
      yield ["sealed", plain(unsealed ? "no" : verifying ? "no, its rows are being verified" : "yes")];
      if (integrityFault !== undefined) yield ["rows do not hold", plain(integrityFault)];
      if (quarantine !== undefined) yield ["in quarantine", plain(quarantine)];
      if (unproven.size > 0) yield ["waits to be told its past by", plain(members(unproven))];
      yield [
        "topology",
        plain(membership ? `${short(membership.digest)}, writer ${membership.writer}` : "none", membership),
      ];
    },
  },
  {
    name: "Locks",
    of: ["locks"],
    *lines({ locks }, topics) {
      for (const [lock, id] of locks) yield [lockName(lock), plain(topics.nameOfId(id), { lock, proposalId: id })];
    },
  },
  {
    name: "Prepared",
    of: ["preparations"],
    *lines({ preparations }, topics) {
      for (const preparation of preparations.values()) {
        const { proposal, receipts, votes, pledge } = preparation;
        const parts = [`receipts of ${members(receipts)}`];
        if (pledge !== undefined) parts.unshift("pledged");
        if (votes.size > 0) parts.push(`votes to abort: ${kinds(votes.values())}`);
        yield [topics.nameOf(topics.proposal(proposal)), { text: parts.join("; "), value: preparation }];
      }
    },
  },
  {
    name: "Refused",
    of: ["refused"],
    *lines({ refused }, topics) {
      for (const each of refused.values())
        yield [topics.nameOfId(each.id), { text: `votes to abort: ${kinds(each.votes.values())}`, value: each }];
    },
  },
  {
    name: "Aborting",
    of: ["aborting"],
    *lines({ aborting }, topics) {
      for (const each of aborting.values())
        yield [
          topics.nameOf(topics.proposal(each.proposal)),
          { text: `acknowledged by ${members(each.acks)}`, value: each },
        ];
    },
  },
  {
    name: "To be delivered",
    of: ["outbox"],
    *lines({ outbox }, topics) {
      for (const each of outbox.values()) {
        const text = each.isPrunable ? "acknowledged by all" : `acknowledged by ${members(each.acks)}`;
        yield [topics.nameOf(topics.proposal(each.proposal)), { text, value: each }];
      }
    },
  },
  {
    name: "Rounds of the writer",
    of: ["rounds", "collecting"],
    *lines({ rounds, collecting }, topics) {
      for (const round of rounds.values()) {
        const { id, certificate, refusal } = round;
        const stage = certificate ? "certified" : refusal ? "refused" : collecting.has(id) ? "collecting" : "prepared";
        const waiting = callersOf(round).map(({ requestId }) => requestId);
        yield [topics.nameOfId(id), { text: [stage, ...waiting].join(", "), value: round }];
      }
    },
  },
  {
    name: "Waiting",
    of: ["queue", "entering", "awaited", "readinessWaiters", "turnedAway"],
    *lines({ queue, entering, awaited, turnedAway, readinessWaiters }) {
      for (const each of entering) yield [each.requestId, { text: "waits to be forwarded", value: each }];
      for (const each of queue) yield [each.forward.requestId, { text: "in the writer's queue", value: each }];
      for (const each of awaited.values())
        yield [
          each.forward.requestId,
          { text: each.acknowledged ? "with the writer" : "on its way to the writer", value: each },
        ];
      for (const [entryPeer, refused] of turnedAway)
        for (const [request, { rejection }] of refused)
          yield [`turned away: ${entryPeer}/${request}`, plain(rejection.code, rejection)];
      for (const requestId of readinessWaiters) yield [requestId, plain("asked whether a change would be taken")];
    },
  },
  {
    name: "Restore",
    of: ["recovery", "restored"],
    *lines({ recovery, restored }) {
      if (recovery !== undefined) yield ["waits for", plain(recovery.waitsFor, recovery)];
      if (restored !== undefined) yield ["last declared", { text: "", value: restored }];
    },
  },
  {
    name: "Founding",
    of: ["founding"],
    *lines({ founding: { cards, vote, signatures, faults } }) {
      if (cards.size > 0) yield ["cards of", plain(members(cards), cards)];
      if (vote !== undefined) yield ["signed for", plain(short(vote.digest), vote)];
      if (signatures.size > 0) yield ["signatures of", plain(members(signatures))];
      for (const [peerId, fault] of faults) yield [`peer ${peerId} is at fault`, plain(fault)];
    },
  },
  {
    name: "Counters",
    of: ["chain", "audit", "registry", "highSeq", "highProof", "decidedSeq", "prunable", "abortsUntil"],
    *lines({ chain, audit, registry, highSeq, highProof, decidedSeq, abortsUntil }) {
      yield ["incarnation", plain(chain.incarnation)];
      yield ["newest batch", plain(`${chain.batchNo} (${short(chain.hash)})`, chain)];
      yield ["highest slot bound", plain(highSeq, highProof)];
      yield ["highest slot decided", plain(decidedSeq)];
      if (abortsUntil > 0) yield ["as many aborts as ever from", plain(abortsUntil)];
      yield ["approvers", plain(registry.approvers)];
      yield ["audit rows", plain(audit.seq, audit)];
    },
  },
  {
    name: "Readiness",
    of: ["probe", "verdict"],
    *lines({ probe, verdict }) {
      if (probe !== undefined) yield ["probing", plain(`answers of ${members(probe.answers)}`, probe)];
      if (verdict === undefined) return;
      const faults = verdict.faults.map(({ peerId, reason }) => `${peerId} ${reason}`).join(", ");
      yield ["last verdict", plain(faults === "" ? "everybody ready" : faults, verdict)];
    },
  },
  {
    name: "Seen of others",
    of: ["seen"],
    *lines({ seen }) {
      for (const each of seen.values())
        yield [
          `peer ${each.peerId}`,
          plain(`batch ${each.newest?.header.batchNo ?? "none"} of incarnation ${each.incarnation}`, each),
        ];
    },
  },
  {
    name: "Timers",
    of: ["timers"],
    *lines({ timers }) {
      for (const [timer, dueAt] of timers) yield [timer, plain(`due at ${dueAt} ms`)];
    },
  },
];

const REST = "Other";

/** The names of all sections, in the order in which they are read. */
export const sectionNames: ReadonlyArray<string> = [...sections.map(({ name }) => name), REST];

/** Shown elsewhere, or repetitions. */
const untold: ReadonlyArray<keyof StateFields> = ["pinned", "seenWritten"];
const told = new Set<string>([...sections.flatMap(({ of }) => of), ...untold]);

/** A field without a section of its own is shown as it is. */
const restOf = (state: StateFields): Iterable<readonly [string, Line]> =>
  Object.entries(state)
    .filter(([field, value]) => !told.has(field) && value !== undefined)
    .map(([field, value]) => [field, { text: "", value }] as const);

const unchanged = (
  fields: ReadonlyArray<keyof StateFields>,
  before: StateFields | undefined,
  now: StateFields,
): boolean => before !== undefined && fields.every((field) => before[field] === now[field]);

const NOTHING: Lines = new Map();

/** All lines of a state; sections that did not change since `before` are those of `beforeLines`. */
export const linesOf = (
  topics: Topics,
  now: PeerState | undefined,
  before: PeerState | undefined,
  beforeLines: Lines,
): Lines => {
  if (now === undefined) return NOTHING;
  const lines = new Map<string, ReadonlyMap<string, Line>>();
  const fields = fieldsOf(now);
  const fieldsBefore = before && fieldsOf(before);
  for (const { name, of, lines: make } of sections) {
    const old = unchanged(of, fieldsBefore, fields) ? beforeLines.get(name) : undefined;
    lines.set(name, old ?? new Map(make(fields, topics)));
  }
  lines.set(REST, new Map(restOf(fields)));
  return lines;
};

/** What a peer's lane looks like. */
export const laneModeOf = (state: PeerState | undefined): LaneMode =>
  state === undefined ? "down" : laneModes[modeOf(state)];

const laneModes: Readonly<Record<Mode, LaneMode>> = {
  blank: "blank",
  sealed: "sealed",
  verifying: "sealed",
  founding: "founding",
  damaged: "out",
  quarantined: "out",
  announcing: "restoring",
  recovering: "restoring",
  joining: "joining",
  active: "active",
  promoting: "joining",
};
