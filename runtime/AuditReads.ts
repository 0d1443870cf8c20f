/**
 * The audit as it lies on the disk, read beside the mailbox in slices: each row verified by its seal, and as the one
 * that follows the row before it. It waits for nobody and writes nothing.
 */
import { Either } from "effect";
import type { Digest } from "../core/base/Digest.ts";
import { type Rejection, type RejectionCode, rejection } from "../core/base/Rejection.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import { auditHash } from "../core/protocol/Audit.ts";
import { NO_DIGEST } from "../core/protocol/SignedState.ts";
import { numberKey } from "../core/protocol/Tables.ts";
import type { Rows, RowView } from "../core/Tables.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { readRefusal } from "./Reads.ts";
import type { Standing } from "./Standing.ts";

export interface AuditReadPorts {
  readonly view: RowView;
  readonly state: Standing;
  readonly crypto: Pick<Crypto, "digest">;
  /** Called where a stored row did not hold, so that the peer stops signing. */
  readonly integrityLost: (where: string) => void;
}

/** A row, and the hash that the next one names. */
export interface AuditRow {
  readonly row: Rows["audit"];
  readonly hash: Digest;
}

/** Why reads of the registry are refused, which is not where these rows come from. */
const ofTheRegistry: ReadonlySet<RejectionCode> = new Set(["RECOVERING", "OUTDATED"]);

/** Thrown by {@link chained} and caught here. */
class Broken extends Error {
  readonly key: string;
  constructor(seq: number) {
    super();
    this.key = numberKey(seq);
  }
}

/** The rows of a scan that begins with `from`, each proved to follow the one before it; the first to follow nothing. */
const chained = ({ view, state, crypto }: AuditReadPorts, from: number, count: number): ReadonlyArray<AuditRow> => {
  const { audit } = state.signed;
  const found: Array<AuditRow> = [];
  for (const { row } of view.scan("audit", from === 1 ? "" : numberKey(from - 1), count)) {
    const seq = from + found.length;
    const before = seq === 1 ? NO_DIGEST : found.at(-1)?.hash;
    if (row.seq !== seq || row.peerId !== state.cluster.peer?.peerId) throw new Broken(seq);
    if (before !== undefined && row.prevHash !== before) throw new Broken(seq);
    const hash = auditHash(crypto, row);
    if (seq === audit.seq && hash !== audit.hash) throw new Broken(seq);
    found.push({ row, hash });
  }
  if (found.length < count) throw new Broken(from + found.length);
  return found;
};

const damaged = (where: string): Rejection =>
  rejection(
    "INTEGRITY_FAILURE",
    `The audit of this peer does not hold at ${where}: it is not what this peer wrote.`,
    "Keep its disk as evidence, and restore this peer from its own backup.",
  );

/**
 * Rows from the sequence number `since` on, at most `limit`, none past the newest durable one. Both are at least 1; a
 * slice costs its caller's thread some 0.1 ms a row.
 *
 * Left: `NOT_INITIALIZED`, `VERIFYING` or `SEALED`, as for a registry read, but not where only the registry is in doubt,
 * on an old disk or while it is being recovered; `INTEGRITY_FAILURE` where a row is missing, not the one that was
 * written, or in another chain. A store that cannot be read throws.
 */
export const readAudit = (
  ports: AuditReadPorts,
  since: number,
  limit: number,
): Either.Either<ReadonlyArray<AuditRow>, Rejection> => {
  const refusal = readRefusal(ports.state);
  if (refusal !== undefined && !ofTheRegistry.has(refusal.code)) return Either.left(refusal);
  const { seq } = ports.state.signed.audit;
  // A peer whose rows do not hold when it starts knows nothing of its audit, and has it all the same.
  const { integrityFault } = ports.state.fitness;
  if (seq === 0 && integrityFault !== undefined) return Either.left(damaged(integrityFault));
  const count = Math.min(limit, seq - since + 1);
  if (count <= 0) return Either.right([]);
  const isBegun = since > 1;
  try {
    const rows = chained(ports, isBegun ? since - 1 : 1, isBegun ? count + 1 : count);
    return Either.right(isBegun ? rows.slice(1) : rows);
  } catch (fault) {
    if (!(fault instanceof IntegrityFailure || fault instanceof Broken)) throw fault;
    const where = fault instanceof Broken ? `audit/${fault.key}` : fault.where;
    ports.integrityLost(where);
    return Either.left(damaged(where));
  }
};
