/** S29: no token is in durable bytes, in an answer or in the trace. */
import type { TableName, Write } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import { Violation } from "../Violation.ts";

/** Every bearer token of the simulation begins with this, and nothing else does; longer than what need not be looked at. */
export const TOKEN_MARK = "bearer-secret-of-a-caller-";

/** Digests and keys have these lengths; a token has another. */
const isDigestLong = ({ length }: string): boolean => length === 64 || length === 128;

const holdsMark = (text: string, marks: ReadonlyArray<string>): boolean => {
  for (const mark of marks) if (text.includes(mark)) return true;
  return false;
};

type Find = (value: unknown, known?: object) => string | undefined;

/**
 * Finds the path of the first secret in a value, but for a part of it that was looked at already. Every row of every
 * transaction goes through here, so nothing is made on the way: no closure, and no call for a value that is too short.
 */
const finder = (marks: ReadonlyArray<string>): Find => {
  const shortest = Math.min(...marks.map(({ length }) => length));
  const asBytes = marks.map((mark) => [...mark].map((character) => character.charCodeAt(0)));
  const beginsAt = (bytes: Uint8Array, at: number, mark: ReadonlyArray<number>): boolean => {
    for (let index = 0; index < mark.length; index++) if (bytes[at + index] !== mark[index]) return false;
    return true;
  };
  const holdsMarkBytes = (bytes: Uint8Array): boolean => {
    for (const mark of asBytes)
      for (let at = 0; at + mark.length <= bytes.length; at++) if (beginsAt(bytes, at, mark)) return true;
    return false;
  };
  const find: Find = (value, known) => {
    if (typeof value === "string")
      return value.length > shortest && !isDigestLong(value) && holdsMark(value, marks) ? "" : undefined;
    if (typeof value !== "object" || value === null) return undefined;
    if (value instanceof Uint8Array) return holdsMarkBytes(value) ? "" : undefined;
    if (Array.isArray(value)) {
      for (const each of value) {
        const found = find(each, known);
        if (found !== undefined) return `[]${found}`;
      }
      return undefined;
    }
    // for-in, because entries would be built for every row of every transaction.
    for (const key in value) {
      const each = (value as { readonly [name: string]: unknown })[key];
      if (typeof each === "number" || each === known || (typeof each === "string" && each.length <= shortest)) continue;
      const found = find(each, known);
      if (found !== undefined) return `.${key}${found}`;
    }
    return undefined;
  };
  return find;
};

/** By their codecs these hold numbers and digests only, in which no text can be stored. */
const textless: ReadonlySet<TableName> = new Set(["batches", "seen", "outbox"]);

/** A row, or the part of one, that other rows and other peers have too; it is looked at once. */
const sharedPart = (write: Write): object | undefined => {
  if (write.op === "remove") return undefined;
  if (write.table === "certificates" || write.table === "approvers") return write.row;
  return write.table === "preparations" ? write.row.proposal : undefined;
};

/** @param marks what no durable byte, answer or log line may contain */
export const S29 = (marks: ReadonlyArray<string>): Checker => {
  const find = finder(marks);
  const clean = new WeakSet<object>();
  const findIn = (write: Write): string | undefined => {
    if (write.op === "remove" || textless.has(write.table)) return undefined;
    const shared = sharedPart(write);
    if (shared === undefined) return find(write.row);
    if (!clean.has(shared)) {
      const found = find(shared);
      if (found !== undefined) return found;
      clean.add(shared);
    }
    return write.row === shared ? undefined : find(write.row, shared);
  };
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes) {
        const found = findIn(write);
        // All other keys are numbers and digests.
        if (found !== undefined || (write.table === "approvers" && holdsMark(write.key, marks)))
          throw new Violation(
            "S29",
            "bearer tokens stay in memory",
            `peer ${slot} stored one at ${write.table}${found ?? " (key)"}`,
          );
      }
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = "approver" in answer && clean.has(answer.approver) ? undefined : find(answer);
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer tokens stay in memory",
          `peer ${slot} answered ${requestId} with one at ${found}`,
        );
    },
    traced: (line) => {
      if (holdsMark(line, marks)) throw new Violation("S29", "bearer tokens stay in memory", "one is in the trace");
    },
  };
};
