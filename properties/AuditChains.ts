/** Chains of audit rows as a peer writes them, without a peer. */
import type { Digest } from "../core/base/Digest.ts";
import { auditHash } from "../core/protocol/Audit.ts";
import { NO_DIGEST } from "../core/protocol/SignedState.ts";
import type { Rows } from "../core/Tables.ts";
import type { AuditRow } from "../runtime/AuditReads.ts";
import { cryptoOf } from "../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../runtime/NobleCrypto.ts";
import { type AuditEvent, auditEvent } from "../server/audit/AuditEvent.ts";

export const auditCrypto = cryptoOf(noblePrimitives);

export const auditRow = (more: Partial<Rows["audit"]> = {}): Rows["audit"] => ({
  version: 1,
  id: "1".repeat(64) as Digest,
  peerId: 1,
  integrityKeyVersion: 1,
  seq: 1,
  prevHash: NO_DIGEST,
  timestamp: 1_700_000_000_000,
  event: "APPROVER_REGISTERED",
  actor: { iss: undefined, sub: "alice", jti: "token-1" },
  approverRef: `alice@sha256:${"a".repeat(64)}`,
  metadataRevision: 1,
  keyId: undefined,
  generation: undefined,
  entryPeer: 2,
  request: { method: "POST", path: "/v1/custody/approvers", bodyDigest: "b".repeat(64) as Digest },
  outcome: "APPLIED",
  requestId: undefined,
  detail: "",
  times: 1,
  ...more,
});

export const hashed = (row: Rows["audit"]): AuditRow => ({ row, hash: auditHash(auditCrypto, row) });

/** The first rows of a peer's audit, each following the one before; the last half sealed with a second key. */
export const auditChain = (count: number, peerId = 1): ReadonlyArray<AuditRow> => {
  const chain: Array<AuditRow> = [];
  for (let seq = 1; seq <= count; seq++) {
    const id = String(seq).padStart(64, "0") as Digest;
    const integrityKeyVersion = seq > count / 2 ? 2 : 1;
    chain.push(hashed(auditRow({ id, peerId, seq, integrityKeyVersion, prevHash: chain.at(-1)?.hash ?? NO_DIGEST })));
  }
  return chain;
};

export const auditEvents = (count: number, peerId = 1): ReadonlyArray<AuditEvent> =>
  auditChain(count, peerId).map(auditEvent);
