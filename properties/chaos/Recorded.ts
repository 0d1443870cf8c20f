/** The records of an in-process cluster, in the form in which a run of real peers is judged. */
import { Either } from "effect";
import { parseTokenClaims } from "../../server/auth/TokenClaims.ts";
import { type MemoryTables, MemoryByteStore } from "../../runtime/MemoryByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { commitRequest } from "../../server/sqlite/WriterMessage.ts";
import type { Said } from "../../sim/requests/Said.ts";
import { type Cluster, crypto } from "../cluster/Cluster.ts";
import { relyingParty } from "../cluster/Enrolling.ts";
import { audit, type Evidence, type PeerEvidence } from "./Audit.ts";
import { type Transaction, transactionOf } from "./Journal.ts";

const copyOf = (tables: MemoryTables): MemoryTables =>
  new Map([...tables].map(([table, rows]) => [table, new Map(rows)]));

const peerEvidence = ({ committed, tables: all }: Cluster, slot: number): PeerEvidence => {
  const transactions = committed.flatMap(({ peerId, changes }, stamp) =>
    peerId === slot ? [transactionOf({ stamp, ...commitRequest(changes) }, 1)] : [],
  );
  const tables = copyOf(all.get(slot) ?? new Map());
  const store = new SealedStore(new MemoryByteStore({ tables }), crypto);
  const final = { tables, store, transactions: transactions.length, fault: undefined, shareVault: undefined };
  return { slot, transactions, final, unsealed: true };
};

const claims = { sub: "operator", aud: "custody", exp: 1_800_003_600, permissions: ["service.approvers.register"] };

/** The one token of such a cluster. */
export const tokenOf: Said["tokenOf"] = () => ({
  kind: "good",
  claims: Either.getOrThrow(parseTokenClaims(Buffer.from(JSON.stringify(claims)))),
});

/** All transactions that became durable at peers 1 to 3, stamped by their index in `cluster.committed`. */
export const evidenceOf = (
  cluster: Cluster,
  more: Pick<Evidence, "moments" | "said"> & Partial<Evidence>,
): Evidence => ({
  crypto,
  peers: [1, 2, 3].map((slot) => peerEvidence(cluster, slot)),
  secrets: ["bearer-secret-"],
  invitations: [],
  sessionMillis: relyingParty.registrationTtlMillis,
  logLines: ["listening"],
  ...more,
});

/** One peer as it would be with other transactions. */
export const withPeer = (
  { peers }: Evidence,
  slot: number,
  change: (transactions: ReadonlyArray<Transaction>) => ReadonlyArray<Transaction>,
): ReadonlyArray<PeerEvidence> =>
  peers.map((peer) => (peer.slot === slot ? { ...peer, transactions: change(peer.transactions) } : peer));

/** The invariant that is found to be violated, if any. */
export const idOf = (given: Evidence): string | undefined => audit(given).violation?.id;
