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

/** The path of the first token in a value. */
const find = (value: unknown): string | undefined => {
  if (typeof value === "string") return value.includes(TOKEN_MARK) ? "" : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof Uint8Array) return holdsBytes(value) ? "" : undefined;
  for (const key in value) {
    const found = find((value as { readonly [name: string]: unknown })[key]);
    if (found !== undefined) return `.${key}${found}`;
  }
  return undefined;
};

export const S29 = (): Checker => {
  // Rows share their parts (proposals, statements, approvers) with each other and with other peers' rows.
  const clean = new WeakSet<object>();
  /** As above, but looks at the parts of a row or answer only once, wherever they turn up. */
  const findInParts = (whole: object): string | undefined => {
    for (const key in whole) {
      const part = (whole as { readonly [name: string]: unknown })[key];
      if (typeof part === "number" || part === undefined) continue;
      const isShared = typeof part === "object" && part !== null;
      if (isShared && clean.has(part)) continue;
      const found = find(part);
      if (found !== undefined) return `.${key}${found}`;
      if (isShared) clean.add(part);
    }
    return undefined;
  };
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes) {
        const found = write.op === "remove" ? undefined : findInParts(write.row);
        if (found !== undefined || write.key.includes(TOKEN_MARK))
          throw new Violation(
            "S29",
            "bearer tokens stay in memory",
            `peer ${slot} stored one at ${write.table}${found ?? " (key)"}`,
          );
      }
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = findInParts(answer);
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
