/** The audit: a record of every change and every operator's call. Each peer chains its own. */
import { digest, record } from "../codec/Codec.ts";
import type { Digest } from "../base/Digest.ts";
import { Limits } from "../base/Limits.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import { countersRow } from "./PeerState.ts";
import { numberKey, protocolTables, type Rows, SELF } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { type NumberedAct, OPERATOR_TAG, operatorActCodec } from "./OperatorAct.ts";
import type { Proposal } from "./Proposal.ts";
import type { Membership } from "./Topology.ts";

const AUDIT_TAG = "CUSTODY_AUDIT_V1";

type Chained = "version" | "peerId" | "integrityKeyVersion" | "seq" | "prevHash";

type Event = Omit<Rows["audit"], Chained>;
/** Fields that all events have. */
type Always = "id" | "timestamp" | "event" | "outcome";

/** What an entry of a command may name. */
type Named = Pick<Event, "event"> & Partial<Pick<Event, "approverRef" | "metadataRevision" | "keyId" | "generation">>;

/** The hash of a row: what the next one names as the one before it, and the counters as the newest. */
export const auditHash = (crypto: Pick<Crypto, "digest">, row: Rows["audit"]): Digest =>
  crypto.digest(AUDIT_TAG, protocolTables.audit, row);

const append = (step: Step, event: Pick<Event, Always> & Partial<Event>): void => {
  const {
    signed: { audit },
  } = step.state;
  // Field by field: events have different fields, and copying all of any object costs V8 ten times as much.
  const row: Rows["audit"] = {
    version: step.context.commands.versions.highest,
    id: event.id,
    peerId: step.self,
    integrityKeyVersion: step.state.fitness.integrityVersion,
    seq: audit.seq + 1,
    prevHash: audit.hash,
    timestamp: event.timestamp,
    event: event.event,
    actor: event.actor,
    approverRef: event.approverRef,
    metadataRevision: event.metadataRevision,
    keyId: event.keyId,
    generation: event.generation,
    entryPeer: event.entryPeer,
    request: event.request,
    outcome: event.outcome,
    requestId: event.requestId,
    detail: event.detail ?? "",
    times: event.times ?? 1,
  };
  step.write({ op: "insert", table: "audit", key: numberKey(row.seq), row });
  step.draft("signed").audit = {
    ...audit,
    seq: row.seq,
    hash: auditHash(step.context.crypto, row),
  };
};

/** Exactly one audit row for each applied proposal, written from the proposal alone (S32). */
export const writeAudit = (step: Step, id: Digest, proposal: Proposal): void => {
  // Field by field: the entries of commands have different fields, and spreading any of them costs V8 ten times as much.
  const { event, approverRef, metadataRevision, keyId, generation }: Named = step
    .command(proposal)
    .audit(proposal.effects);
  append(step, {
    event,
    approverRef,
    metadataRevision,
    keyId,
    generation,
    id,
    timestamp: step.now,
    actor: proposal.actor,
    entryPeer: proposal.entryPeer,
    request: proposal.request,
    outcome: "APPLIED",
  });
};

/** What this peer has done with a key beside what all agree on, in the transaction that does it. */
export const auditOfKey = (
  step: Step,
  did: Pick<Event, "event" | "outcome" | "id" | "actor" | "keyId" | "generation" | "entryPeer" | "request" | "detail">,
): void => append(step, { ...did, timestamp: step.now });

/** Ids of five digits that fit into a row with the cluster's id, and with how many more there are. */
const NAMED_MEMBERS = 60;

/** Names all members where their ids fit into the row, however long; else the first ones. The topology has them all. */
const foundedBy = ({ peerIds, topology }: Membership): string => {
  const naming = (members: string): string => `cluster ${topology.clusterId} of peers ${members}`;
  const all = naming(peerIds.join(", "));
  if (all.length <= Limits.auditDetailBytes) return all;
  return naming(`${peerIds.slice(0, NAMED_MEMBERS).join(", ")} and ${peerIds.length - NAMED_MEMBERS} more`);
};

/** The founding: who belongs to the cluster from now on. No caller requested it. */
export const auditFounding = (step: Step, membership: Membership): void =>
  append(step, {
    id: membership.digest,
    timestamp: step.now,
    event: "CLUSTER_FOUNDED",
    outcome: "APPLIED",
    detail: foundedBy(membership),
  });

/** A step of a promotion at this peer; before a peer is a member no transaction updates the counters by itself. */
export const auditPromotion = (
  step: Step,
  event: `PROMOTION_${string}`,
  transferId: Digest,
  members: ReadonlyArray<{ readonly peerId: number }>,
  actor?: Event["actor"],
): void => {
  const detail = `peers ${members.map(({ peerId }) => peerId).join(", ")}`;
  append(step, { id: transferId, timestamp: step.now, event, actor, outcome: "APPLIED", detail });
  if (step.state.cluster.membership === undefined)
    step.write({ op: "replace", table: "counters", key: SELF, row: countersRow(step.state) });
};

/** Two acts may be alike; their places in the chain are not. */
const placedCodec = record({ act: operatorActCodec, prevHash: digest });

/**
 * Records the operators' acts, in this order and each once (S34): of kept acts, only those not in the audit yet. A peer
 * that is sealed or does not trust its rows writes nothing.
 */
export const auditOperators = (step: Step, acts: ReadonlyArray<NumberedAct> = []): void => {
  const { state, mode } = step;
  if (mode === "blank" || mode === "sealed" || mode === "verifying" || mode === "damaged") return;
  for (const { no, isKept, act } of acts) {
    if (isKept && no <= state.signed.audit.keptNo) continue;
    append(step, {
      id: step.context.crypto.digest(OPERATOR_TAG, placedCodec, { act, prevHash: state.signed.audit.hash }),
      timestamp: act.at,
      event: act.call,
      actor: act.actor,
      request: act.request,
      outcome: act.outcome,
      requestId: act.requestId,
      detail: act.detail,
      times: act.times,
    });
    step.draft("signed").audit = { ...state.signed.audit, lastNo: no, keptNo: isKept ? no : state.signed.audit.keptNo };
  }
  // Before the founding no transaction updates the counters by itself.
  if (acts.length > 0 && state.cluster.membership === undefined)
    step.write({ op: "replace", table: "counters", key: SELF, row: countersRow(state) });
};
