/**
 * S29: bearer secrets stay in memory. Every field of every row, message and answer is looked at, known or not; a token
 * may be in the request that it authorizes, an invitation in the request and in the one answer that it is made for.
 */
import type { Message } from "../../core/Message.ts";
import type { Checker } from "./Checker.ts";
import { INVITATION_MARKS } from "../crypto/SecretMarks.ts";
import { Violation } from "../base/Violation.ts";

/** Where in a value the first secret is. */
type Find = (value: unknown) => string | undefined;

interface Fields {
  readonly [name: string]: unknown;
}

/** Marks, and one pattern for them all: a text is read once. */
interface Marks {
  readonly texts: ReadonlyArray<string>;
  readonly pattern: RegExp;
}

const marksOf = (texts: ReadonlyArray<string>): Marks => ({
  texts,
  // Without a text there is none to find.
  pattern: new RegExp(texts.map((text) => text.replace(/[^A-Za-z0-9_-]/g, "\\$&")).join("|") || "(?!)"),
});

const holdsMark = (text: string, { pattern }: Marks): boolean => pattern.test(text);

/** A request on its way between peers has its token with it, whether it asks for a change, a signature or a share. */
const mayHoldToken = (fields: Fields, name: string): boolean =>
  name === "token" &&
  (("call" in fields && "attestation" in fields) || ("rawBody" in fields && "path" in fields) || "helpers" in fields);

/** Where an invitation may be: what a finish brings, and what options are answered with. */
const mayHoldInvitation = (fields: Fields, name: string): boolean =>
  (name === "rawBody" && "ifMatch" in fields) ||
  (name === "answer" && fields["_tag"] === "Exchanged") ||
  (name === "invitation" && "registrationId" in fields);

/** The kinds of secrets: each is in none of the other's places. */
interface Secrets {
  readonly all: Marks;
  readonly invitations: Marks;
  readonly tokens: Marks;
}

/**
 * Finds the path of the first secret in a value. Rows of every transaction go through here, so nothing is made on the
 * way: no closure, and no call for a value that is too short. Records are shared by rows, messages and peers, and are
 * looked at once; what holds them is seldom seen again.
 */
const finder = ({ all, invitations, tokens }: Secrets): Find => {
  const shortest = Math.min(...all.texts.map(({ length }) => length));
  const bytesOf = new Map(all.texts.map((mark) => [mark, [...mark].map((character) => character.charCodeAt(0))]));
  const clean = new WeakSet<object>();
  const beginsAt = (bytes: Uint8Array, at: number, mark: ReadonlyArray<number>): boolean => {
    for (let index = 0; index < mark.length; index++) if (bytes[at + index] !== mark[index]) return false;
    return true;
  };
  const holdsMarkBytes = (bytes: Uint8Array, { texts }: Marks): boolean => {
    for (const mark of texts) {
      const wanted = bytesOf.get(mark) ?? [];
      const first = wanted[0] ?? 0;
      for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1))
        if (beginsAt(bytes, at, wanted)) return true;
    }
    return false;
  };
  const marksIn = (fields: Fields, name: string): Marks => {
    if (mayHoldToken(fields, name)) return invitations;
    return mayHoldInvitation(fields, name) ? tokens : all;
  };
  const findInFields = (fields: Fields): string | undefined => {
    // for-in, because entries would be built for every row of every transaction.
    for (const name in fields) {
      const each = fields[name];
      if (typeof each === "number" || (typeof each === "string" && each.length < shortest)) continue;
      const found = find(each, marksIn(fields, name));
      if (found !== undefined) return `.${name}${found}`;
    }
    return undefined;
  };
  const find = (value: unknown, marks: Marks): string | undefined => {
    if (typeof value === "string") return value.length >= shortest && holdsMark(value, marks) ? "" : undefined;
    if (typeof value !== "object" || value === null) return undefined;
    if (value instanceof Uint8Array) return holdsMarkBytes(value, marks) ? "" : undefined;
    if (Array.isArray(value)) {
      for (const each of value) {
        const found = find(each, marks);
        if (found !== undefined) return `[]${found}`;
      }
      return undefined;
    }
    if (clean.has(value)) return undefined;
    const found = findInFields(value as Fields);
    if (found === undefined) clean.add(value);
    return found;
  };
  return (value) => {
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    return isRecord && !(value instanceof Uint8Array) ? findInFields(value as Fields) : find(value, all);
  };
};

/** @param secrets what no durable byte, answer or log line may contain */
export const S29 = (secrets: ReadonlyArray<string>): Checker => {
  const marks = marksOf(secrets);
  const isOfInvitation = (mark: string): boolean => INVITATION_MARKS.includes(mark);
  const find = finder({
    all: marks,
    invitations: marksOf(secrets.filter(isOfInvitation)),
    tokens: marksOf(secrets.filter((mark) => !isOfInvitation(mark))),
  });
  const shortest = Math.min(...secrets.map(({ length }) => length));
  let last: Message | undefined;
  return {
    id: "S29",
    flushed: ({ slot }, writes) => {
      for (const write of writes) {
        const { key } = write;
        const isMarked = key.length >= shortest && holdsMark(key, marks);
        const found = isMarked ? " (key)" : write.op === "remove" ? undefined : find(write.row);
        if (found !== undefined)
          throw new Violation(
            "S29",
            "bearer secrets stay in memory",
            `peer ${slot} stored one at ${write.table}${found}`,
          );
      }
    },
    replied: ({ slot }, { answer, requestId }) => {
      const found = find(answer);
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer secrets stay in memory",
          `peer ${slot} answered ${requestId} with one at ${found}`,
        );
    },
    sent: ({ slot }, message) => {
      // The same message goes to several peers in a row.
      if (message === last) return;
      last = message;
      const found = find(message);
      if (found !== undefined)
        throw new Violation(
          "S29",
          "bearer secrets stay in memory",
          `peer ${slot} sent one in a ${message._tag} at ${found}`,
        );
    },
    traced: (text) => {
      if (holdsMark(text, marks)) throw new Violation("S29", "bearer secrets stay in memory", "one is in the trace");
    },
  };
};
