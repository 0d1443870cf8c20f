/**
 * Which statements their signers have ever stored, each by the row that speaks of it. The batch that a statement is
 * part of may be durable without that row; then the next process of its signer has forgotten what it signed.
 */
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Write } from "../../core/Tables.ts";

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

const isSame = (left: SignedStatement, right: SignedStatement): boolean =>
  left === right ||
  (left.statement.kind === right.statement.kind &&
    left.statement.proposalId === right.statement.proposalId &&
    left.statement.detail === right.statement.detail);

export class StatementRows {
  /** By the signature of their batch, by their place in it. */
  readonly #stored = new Map<string, Map<number, SignedStatement>>();

  /** A row change of a peer has become durable. */
  note(slot: number, write: Write): void {
    for (const signed of spokenIn(write)) {
      if (!isSigned(signed) || signed.header.peerId !== slot) continue;
      const batch = this.#stored.get(signed.signature) ?? new Map<number, SignedStatement>();
      this.#stored.set(signed.signature, batch.set(signed.index, signed));
    }
  }

  /** Whether its signer has had a row of it. */
  has(signed: SignedStatement): boolean {
    const stored = this.#stored.get(signed.signature)?.get(signed.index);
    return stored !== undefined && isSame(stored, signed);
  }
}
