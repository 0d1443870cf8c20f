/**
 * S55: nothing is done twice. An honest peer says nothing twice in one message, and a row that it replaces changes.
 */
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import { maskOf, type Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** What a message is about, where it is about a list of things; undefined for all others. */
const contentsOf = (message: Message): ReadonlyArray<unknown> | undefined => {
  if (message._tag === "Votes" || message._tag === "CommitAcks")
    return message.statements.map(({ statement: { kind, proposalId }, header: { peerId, incarnation } }) =>
      [kind, proposalId, peerId, incarnation].join(" "),
    );
  if (message._tag === "Commit") return message.certificates.map(({ proposal }) => proposal);
  if (message._tag === "SettleAnswer") return message.items.map(({ proposalId }) => proposalId);
  const isOfProposals = message._tag === "Prepare" || message._tag === "SettleQuery" || message._tag === "AbortRequest";
  return isOfProposals ? message.items.map(({ proposal }) => proposal) : undefined;
};

/** Whether two values read from rows are equal in every field; most differ in one of the first. */
const isEqual = (one: unknown, other: unknown): boolean => {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const [fields, others] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>];
  let names = 0;
  for (const name in fields) {
    if (!isEqual(fields[name], others[name])) return false;
    names++;
  }
  return Object.keys(others).length === names;
};

export const S55 = (ghost: Ghost): Checker => {
  /** By slot, table and key: the rows that its process has written, as it left them. */
  const rows: Array<Map<string, Map<string, object>> | undefined> = [];
  const replace = (slot: number, honest: boolean, write: Write): void => {
    // They go with every transaction of a member, whatever that is about.
    if (write.table === "counters") return;
    const tables = (rows[slot] ??= new Map<string, Map<string, object>>());
    const known = tables.get(write.table) ?? new Map<string, object>();
    if (known.size === 0) tables.set(write.table, known);
    if (write.op === "remove") return void known.delete(write.key);
    const before = write.op === "replace" ? known.get(write.key) : undefined;
    known.set(write.key, write.row);
    if (honest && before !== undefined && isEqual(before, write.row))
      throw new Violation("S55", `peer ${slot} replaces ${write.table} ${write.key}`, "by the same row");
  };
  return {
    id: "S55",
    booted: ({ slot }) => void (rows[slot] = undefined),
    flushed: ({ slot, honest }, writes) => {
      for (const write of writes) replace(slot, honest, write);
    },
    sent: ({ slot, honest }, message, to) => {
      if (!honest || (ghost.lying & maskOf(slot)) !== 0) return;
      const contents = contentsOf(message);
      if (contents === undefined) return;
      if (new Set(contents).size < contents.length)
        throw new Violation("S55", `peer ${slot} says a ${message._tag} to peer ${to}`, "something is in it twice");
    },
  };
};
