/** S29: no token is in durable bytes, in an answer or in the trace. */
import type { Sink } from "../../core/codec/Codec.ts";
import { rowCodec, type Rows, type TableName } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

/** Every bearer token of the simulation begins with this, and nothing else does. */
export const TOKEN_MARK = "bearer-secret-";

const MARK_BYTES = [...TOKEN_MARK].map((character) => character.charCodeAt(0));

const holdsBytes = (bytes: Uint8Array): boolean => {
  const [first = 0] = MARK_BYTES;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1))
    if (MARK_BYTES.every((byte, index) => bytes[at + index] === byte)) return true;
  return false;
};

/** Looks for a token in whatever a codec writes, which is all that a row can bring to a disk. */
class TokenFinder implements Sink {
  #found = false;

  /** Whether there is one in a row. */
  isIn<T extends TableName>(table: T, row: Rows[T]): boolean {
    this.#found = false;
    rowCodec(table).write(row, this);
    return this.#found;
  }

  text(value: string): void {
    if (value.includes(TOKEN_MARK)) this.#found = true;
  }

  bytes(value: Uint8Array): void {
    if (holdsBytes(value)) this.#found = true;
  }

  // Numbers, and digests, which have a length that no token has.
  uint(): void {}
  hex(): void {}
  bool(): void {}
  nothing(): void {}
  list(): void {}
  record(): void {}
  field(): void {}
}

export const S29 = (): Checker => {
  const finder = new TokenFinder();
  // Answers share the approvers they carry, which are looked at once.
  const clean = new WeakSet<object>();
  /** The path of the first token in a value. */
  const find = (value: unknown): string | undefined => {
    if (typeof value === "string") return value.includes(TOKEN_MARK) ? "" : undefined;
    if (typeof value !== "object" || value === null || clean.has(value)) return undefined;
    if (value instanceof Uint8Array) return holdsBytes(value) ? "" : undefined;
    for (const key in value) {
      const found = find((value as { readonly [name: string]: unknown })[key]);
      if (found !== undefined) return `.${key}${found}`;
    }
    return undefined;
  };
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes)
        if ((write.op !== "remove" && finder.isIn(write.table, write.row)) || write.key.includes(TOKEN_MARK))
          throw new Violation("S29", "bearer tokens stay in memory", `peer ${slot} stored one in table ${write.table}`);
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = find(answer);
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer tokens stay in memory",
          `peer ${slot} answered ${requestId} with one at ${found}`,
        );
      if (answer._tag === "Registered") clean.add(answer.approver);
    },
    traced: (line) => {
      if (line.includes(TOKEN_MARK)) throw new Violation("S29", "bearer tokens stay in memory", "one is in the trace");
    },
  };
};
