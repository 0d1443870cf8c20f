/** What is kept of every change and of every operator's call, for whoever asks later: chained at each peer for itself. */
import { digest, record } from "../codec/Codec.ts";
import type { Digest } from "../base/Digest.ts";
import { countersRow } from "./PeerState.ts";
import { numberKey, protocolTables, type Rows, SELF } from "./Tables.ts";
import type { Turn } from "./Turn.ts";
import { type NumberedAct, OPERATOR_TAG, operatorActCodec } from "./OperatorAct.ts";
import type { Proposal } from "./Proposal.ts";
import type { Membership } from "./Topology.ts";

const AUDIT_TAG = "CUSTODY_AUDIT_V1";

type Chained = "version" | "peerId" | "integrityKeyVersion" | "seq" | "prevHash";

/** What only some events have. */
const nothing = {
  actor: undefined,
  approverRef: undefined,
  metadataRevision: undefined,
  entryPeer: undefined,
  request: undefined,
  requestId: undefined,
  detail: "",
  times: 1,
};

const append = (turn: Turn, event: Omit<Rows["audit"], Chained>): void => {
  const {
    signed: { audit },
  } = turn.state;
  const row: Rows["audit"] = {
    ...event,
    version: turn.context.commands.versions.highest,
    peerId: turn.self,
    integrityKeyVersion: turn.state.standing.integrityVersion,
    seq: audit.seq + 1,
    prevHash: audit.hash,
  };
  turn.write({ op: "insert", table: "audit", key: numberKey(row.seq), row });
  turn.draft("signed").audit = {
    ...audit,
    seq: row.seq,
    hash: turn.context.crypto.digest(AUDIT_TAG, protocolTables.audit, row),
  };
};

/** Exactly one audit row for each applied proposal, written from the proposal alone (S32). */
export const writeAudit = (turn: Turn, id: Digest, proposal: Proposal): void => {
  append(turn, {
    ...nothing,
    ...turn.command(proposal).audit(proposal.effects),
    id,
    timestamp: turn.now,
    actor: proposal.actor,
    entryPeer: proposal.entryPeer,
    request: proposal.request,
    outcome: "APPLIED",
  });
};

/** Who belongs to the cluster from now on; nobody asked for it by a request. */
export const auditFounding = (turn: Turn, { digest, peerIds, topology }: Membership): void =>
  append(turn, {
    ...nothing,
    id: digest,
    timestamp: turn.now,
    event: "CLUSTER_FOUNDED",
    outcome: "APPLIED",
    detail: `cluster ${topology.clusterId} of peers ${peerIds.join(", ")}`,
  });

/** Two acts may be alike; their places in the chain are not. */
const placedCodec = record({ act: operatorActCodec, prevHash: digest });

/**
 * Writes down what operators did, in this order and each once (S34): of what was kept, only what is not here yet.
 * Nothing is written by a peer that is sealed or does not trust its rows.
 */
export const auditOperators = (turn: Turn, acts: ReadonlyArray<NumberedAct> = []): void => {
  const { state, mode } = turn;
  if (mode === "blank" || mode === "sealed" || mode === "verifying" || mode === "damaged") return;
  for (const { no, isKept, act } of acts) {
    if (isKept && no <= state.signed.audit.keptNo) continue;
    append(turn, {
      ...nothing,
      id: turn.context.crypto.digest(OPERATOR_TAG, placedCodec, { act, prevHash: state.signed.audit.hash }),
      timestamp: act.at,
      event: act.call,
      actor: act.actor,
      request: act.request,
      outcome: act.outcome,
      requestId: act.requestId,
      detail: act.detail,
      times: act.times,
    });
    turn.draft("signed").audit = { ...state.signed.audit, lastNo: no, keptNo: isKept ? no : state.signed.audit.keptNo };
  }
  // Before the founding no transaction brings the counters up to date by itself.
  if (acts.length > 0 && state.cluster.membership === undefined)
    turn.write({ op: "replace", table: "counters", key: SELF, row: countersRow(state) });
};
