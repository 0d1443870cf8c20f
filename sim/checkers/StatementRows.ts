/**
 * Which statements their signers have ever stored, each by the row that speaks of it. The batch that a statement is
 * part of may be durable without that row; then the next process of its signer has forgotten what it signed.
 */
import type { Digest } from "../../core/base/Digest.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { type SignedStatement, signedStatementCodec } from "../../core/protocol/Statement.ts";
import type { Write } from "../../core/Tables.ts";

/** Whether two statements are the same, to the byte. */
export const isSameStatement = (left: SignedStatement, right: SignedStatement): boolean => {
  const bytes = encode(signedStatementCodec, right);
  return encode(signedStatementCodec, left).every((byte, index) => byte === bytes[index]);
};

const isSigned = (value: unknown): value is SignedStatement =>
  typeof value === "object" && value !== null && "statement" in value && "header" in value;

/** What a row says that its own peer has signed. */
const spokenIn = (write: Write): ReadonlyArray<unknown> => {
  if (write.op === "remove") return [];
  switch (write.table) {
    case "preparations":
      return [write.row.own, write.row.pledge];
    case "refusals":
      return [write.row.refusal];
    case "slots":
    case "strays":
      return [write.row.ack];
    case "counters":
    case "batches":
    case "seen":
    case "certificates":
    case "aborts":
    case "outbox":
    case "audit":
    case "approvers":
      return [];
    default:
      // Of a module, whichever field it is in; all others have no statement of their own.
      return Object.values(write.row);
  }
};

/** Beside the outcome of its proposal a vote of the same transaction has no row of its own. */
const ends: ReadonlySet<string> = new Set(["ABORT_ACK", "COMMIT_ACK"]);

const isSame = ({ statement: left }: SignedStatement, { statement: right }: SignedStatement): boolean =>
  left.kind === right.kind && left.proposalId === right.proposalId && left.detail === right.detail;

export class StatementRows {
  /** By the signature of their batch, by their place in it. */
  readonly #stored = new Map<string, Map<number, SignedStatement>>();
  /** By slot: what it knows the outcome of. */
  readonly #ended = new Map<number, Set<Digest>>();

  /** A transaction of a peer has become durable. */
  note(slot: number, writes: ReadonlyArray<Write>): void {
    for (const write of writes) this.#note(slot, write);
  }

  #note(slot: number, write: Write): void {
    for (const signed of spokenIn(write)) {
      if (!isSigned(signed) || signed.header.peerId !== slot) continue;
      const batch = this.#stored.get(signed.signature) ?? new Map<number, SignedStatement>();
      this.#stored.set(signed.signature, batch.set(signed.index, signed));
      const { kind, proposalId } = signed.statement;
      if (ends.has(kind)) this.#ended.set(slot, (this.#ended.get(slot) ?? new Set()).add(proposalId));
    }
  }

  /** Whether its signer has had a row that speaks of it. */
  has(signed: SignedStatement): boolean {
    const stored = this.#stored.get(signed.signature)?.get(signed.index);
    if (stored !== undefined && (stored === signed || isSame(stored, signed))) return true;
    return this.#ended.get(signed.header.peerId)?.has(signed.statement.proposalId) === true;
  }
}
