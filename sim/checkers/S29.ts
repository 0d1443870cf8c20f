/**
 * S29: no token is in durable bytes, in an answer or in the trace, and no invitation either, except in the one answer
 * that it is made for.
 */
import type { Answer } from "../../core/Action.ts";
import type { Certificate } from "../../core/protocol/Certificate.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";

/** Digests and keys have these lengths, and so have the digits of an invitation; a token has another. */
const isDigestLong = ({ length }: string): boolean => length === 64 || length === 128;

const holdsMark = (text: string, marks: ReadonlyArray<string>): boolean => {
  for (const mark of marks) if (text.includes(mark)) return true;
  return false;
};

const isDigits = (mark: string): boolean => /^[0-9a-f]+$/.test(mark);

/** Whether a digest is the digits of a secret, which begin as its mark does. */
const beginsWithMark = (digest: string, marks: ReadonlyArray<string>): boolean => {
  for (const mark of marks) if (digest.startsWith(mark)) return true;
  return false;
};

type Find = (value: unknown) => string | undefined;

/**
 * Finds the path of the first secret in a value. Rows of every transaction go through here, so nothing is made on the
 * way: no closure, and no call for a value that is too short.
 */
const finder = (marks: ReadonlyArray<string>): Find => {
  const shortest = Math.min(...marks.map(({ length }) => length));
  const asDigits = marks.filter(isDigits);
  const asBytes = marks.map((mark) => [...mark].map((character) => character.charCodeAt(0)));
  const beginsAt = (bytes: Uint8Array, at: number, mark: ReadonlyArray<number>): boolean => {
    for (let index = 0; index < mark.length; index++) if (bytes[at + index] !== mark[index]) return false;
    return true;
  };
  const holdsMarkBytes = (bytes: Uint8Array): boolean => {
    for (const mark of asBytes) {
      const first = mark[0] ?? 0;
      for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1))
        if (beginsAt(bytes, at, mark)) return true;
    }
    return false;
  };
  const find: Find = (value) => {
    if (typeof value === "string") {
      if (value.length <= shortest) return undefined;
      return (isDigestLong(value) ? beginsWithMark(value, asDigits) : holdsMark(value, marks)) ? "" : undefined;
    }
    if (typeof value !== "object" || value === null) return undefined;
    if (value instanceof Uint8Array) return holdsMarkBytes(value) ? "" : undefined;
    if (Array.isArray(value)) {
      for (const each of value) {
        const found = find(each);
        if (found !== undefined) return `[]${found}`;
      }
      return undefined;
    }
    // for-in, because entries would be built for every row of every transaction.
    for (const key in value) {
      const each = (value as { readonly [name: string]: unknown })[key];
      if (typeof each === "number" || (typeof each === "string" && each.length <= shortest)) continue;
      const found = find(each);
      if (found !== undefined) return `.${key}${found}`;
    }
    return undefined;
  };
  return find;
};

/** The only field of a statement that can hold a text: by its codec the others are numbers, digests and set words. */
const detailOf = (signed: SignedStatement | undefined): string | undefined => signed?.statement.detail;

/** The one answer that an invitation is made for, without the invitation. */
const withoutInvitation = (answer: Answer): unknown =>
  answer._tag === "Offered" ? { ...answer.offer, invitation: "" } : answer;

/** @param marks what no durable byte, answer or log line may contain */
export const S29 = (marks: ReadonlyArray<string>): Checker => {
  const find = finder(marks);
  const clean = new WeakSet<object>();
  /** The same for a row, or a part of one, that is shared with other rows and peers; it is looked at once. */
  const findShared = (shared: object): string | undefined => {
    if (clean.has(shared)) return undefined;
    const found = find(shared);
    if (found === undefined) clean.add(shared);
    return found;
  };
  const findCertified = (certificate: Certificate): string | undefined => {
    if (clean.has(certificate)) return undefined;
    let found = findShared(certificate.proposal);
    for (const receipt of certificate.receipts) found ??= find(detailOf(receipt));
    if (found === undefined) clean.add(certificate);
    return found;
  };
  /** Looks at the fields of a row that can hold a text by its codec; at the whole row in tables that seldom change. */
  const findIn = (write: Write): string | undefined => {
    if (write.op === "remove") return undefined;
    switch (write.table) {
      case "batches":
      case "seen":
      case "outbox":
        return undefined;
      case "counters":
        return find(write.row.quarantine);
      case "slots":
        return find(detailOf(write.row.ack)) ?? find(detailOf(write.row.writerReceipt));
      case "preparations": {
        const { proposal, own, writerReceipt, refusal, pledge } = write.row;
        return (
          findShared(proposal) ??
          find(detailOf(own)) ??
          find(detailOf(writerReceipt)) ??
          find(detailOf(refusal)) ??
          find(detailOf(pledge))
        );
      }
      case "certificates":
        return findCertified(write.row);
      case "approvers":
        return findShared(write.row);
      case "audit":
        return (
          find(write.row.actor) ?? find(write.row.request) ?? find(write.row.approverRef) ?? find(write.row.detail)
        );
      default:
        return find(write.row);
    }
  };
  /**
   * Whether the key of a row is a text that was not looked at in the row: all but refs are numbers and digests, and the
   * digest that names a session must not be its invitation.
   */
  const isMarkedKey = (write: Write): boolean =>
    (write.table === "sessions" ||
      (write.table === "approvers" && (write.op === "remove" || write.key !== write.row.ref))) &&
    holdsMark(write.key, marks);
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes) {
        const found = findIn(write);
        if (found !== undefined || isMarkedKey(write))
          throw new Violation(
            "S29",
            "bearer secrets stay in memory",
            `peer ${slot} stored one at ${write.table}${found ?? " (key)"}`,
          );
      }
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = "approver" in answer && clean.has(answer.approver) ? undefined : find(withoutInvitation(answer));
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer secrets stay in memory",
          `peer ${slot} answered ${requestId} with one at ${found}`,
        );
    },
    sent: ({ slot }, message) => {
      if (message._tag !== "Session.Mirror") return;
      const found = find(message.items.map(({ session }) => session));
      if (found !== undefined)
        throw new Violation("S29", "bearer secrets stay in memory", `peer ${slot} mirrored one at ${found}`);
    },
    traced: (text) => {
      if (holdsMark(text, marks)) throw new Violation("S29", "bearer secrets stay in memory", "one is in the trace");
    },
  };
};
