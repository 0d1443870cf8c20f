/** S29: no token is in durable bytes, in an answer or in the trace. */
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

/** Digests and keys have these lengths; a token has another. */
const isDigestLong = ({ length }: string): boolean => length === 64 || length === 128;

export const S29 = (): Checker => {
  // What many rows share (proposals, statements) is looked at once; a row itself comes by only once anyway.
  const clean = new WeakSet<object>();
  /** The path of the first token in a value. */
  const find = (value: unknown, isShared = true): string | undefined => {
    if (typeof value === "string") return !isDigestLong(value) && value.includes(TOKEN_MARK) ? "" : undefined;
    if (typeof value !== "object" || value === null || clean.has(value)) return undefined;
    if (value instanceof Uint8Array) return holdsBytes(value) ? "" : undefined;
    // for-in, because entries would be built for every row of every transaction.
    for (const key in value) {
      const each = (value as { readonly [name: string]: unknown })[key];
      const found = typeof each === "number" ? undefined : find(each);
      if (found !== undefined) return `.${key}${found}`;
    }
    if (isShared && !Array.isArray(value)) clean.add(value);
    return undefined;
  };
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes) {
        const found = write.op === "remove" ? undefined : find(write.row, false);
        if (found !== undefined || write.key.includes(TOKEN_MARK))
          throw new Violation(
            "S29",
            "bearer tokens stay in memory",
            `peer ${slot} stored one at ${write.table}${found ?? " (key)"}`,
          );
      }
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = find(answer);
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer tokens stay in memory",
          `peer ${slot} answered ${requestId} with one at ${found}`,
        );
    },
    traced: (line) => {
      if (line.includes(TOKEN_MARK)) throw new Violation("S29", "bearer tokens stay in memory", "one is in the trace");
    },
  };
};
