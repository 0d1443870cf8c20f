/**
 * S55: nothing is done twice. An honest peer says nothing twice in one message, and a row that it replaces changes. A
 * restored peer says which slots it has by now, what its helper has alike does not travel, and it goes through
 * once, or twice where it took changes back.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { Span } from "../../core/protocol/SnapshotSpan.ts";
import type { RowView, Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
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

/** Whoever hears nothing asks again after a second, in microseconds. */
const UNANSWERED_MICROS = 900_000;

/** A slot and how it ended, in a word; undefined while it has not. */
type Slot = readonly [key: string, ended: string | undefined];

const slotsAfter = (store: RowView, after: string): ReadonlyArray<Slot> =>
  store
    .scan("slots", after, Number.MAX_SAFE_INTEGER)
    .map(({ key, row: { proposalId, outcome } }) => [
      key,
      outcome === "APPLIED" || outcome === "ABORTED" ? `${key} ${proposalId} ${outcome}` : undefined,
    ]);

const endsUpTo = (slots: ReadonlyArray<Slot>, upTo: string): string =>
  slots
    .filter(([key]) => key <= upTo)
    .map(([, ended]) => ended ?? "open")
    .join(" ");

export const S55 = (ghost: Ghost): Checker => {
  /** By slot, table and key: the rows that its process has written, as it left them. */
  const rows: Array<Map<string, Map<string, object>> | undefined> = [];
  const replace = (slot: number, honest: boolean, write: Write): void => {
    // They go with every transaction of a member, whatever that is about.
    if (write.table === "counters") return;
    const tables = (rows[slot] ??= new Map<string, Map<string, object>>());
    const known = tables.get(write.table) ?? new Map<string, object>();
    if (known.size === 0) tables.set(write.table, known);
    if (write.op === "remove") {
      if (write.table === "certificates") undone.add(slot);
      return void known.delete(write.key);
    }
    const before = write.op === "replace" ? known.get(write.key) : undefined;
    known.set(write.key, write.row);
    if (honest && before !== undefined && isEqual(before, write.row))
      throw new Violation("S55", `peer ${slot} replaces ${write.table} ${write.key}`, "by the same row");
  };
  /** Slots of peers that have taken a change back since they asked for a first page. */
  const undone = new Set<number>();
  /** By slot: when it asked for a first page last, whom, and in which round; and how often it has begun anew in that. */
  const begun = new Map<number, { readonly round: string; readonly at: number; readonly again: number }>();

  const assertOnce = ({ slot, decidedAt: at }: Watched, to: PeerId, nonce: Digest): void => {
    const round = `${nonce} ${to}`;
    const last = begun.get(slot);
    const isSame = last?.round === round;
    if (isSame && at - last.at < UNANSWERED_MICROS && !undone.has(slot))
      throw new Violation(
        "S55",
        `peer ${slot} began to take the registry of peer ${to} at ${last.at} µs`,
        `it began anew at ${at} µs, and had taken nothing back`,
      );
    const again = (isSame ? last.again : 0) + (isSame && undone.has(slot) ? 1 : 0);
    if (again > 1)
      throw new Violation(
        "S55",
        `peer ${slot} went through the registry of peer ${to} twice, and took changes back each time`,
        "it begins once more, though what was left the second time was offered before",
      );
    begun.set(slot, { round, at, again });
    undone.delete(slot);
  };

  /** By who asks for which page: the slots that the asker says it has, in words; null where nobody knows which. */
  const compared = new Map<string, { readonly upTo: string; readonly ends: string } | null>();

  /** By what is said of slots: what they were, in words. */
  const spans = new Map<Digest, string>();
  const assertTrue = (slot: number, { digest, upTo }: Span, ends: string): void => {
    const known = spans.get(digest);
    if (known !== undefined && known !== ends)
      throw new Violation("S55", `peer ${slot} says which slots it has up to "${upTo}"`, "it has others by now");
    spans.set(digest, ends);
  };

  const assertCompared = (peer: Watched, to: PeerId, { nonce, after, here }: MessageOf<"SnapshotRequest">): void => {
    const { slot, store, state } = peer;
    // Disks that are put together are each looked at as a whole.
    if (state?.rejoining.recovery?.transfer?.union !== undefined) return;
    if (after === "") assertOnce(peer, to, nonce);
    const own = slotsAfter(store, after);
    const page = `${slot} ${nonce} ${after}`;
    const said = here && { upTo: here.upTo, ends: endsUpTo(own, here.upTo) };
    const before = compared.get(page);
    if (here !== undefined) assertTrue(slot, here, endsUpTo(own, here.upTo));
    // Asked again with other slots in hand, it may be answered to either.
    const isSame = before !== undefined && before?.upTo === said?.upTo && before?.ends === said?.ends;
    compared.set(page, before === undefined || isSame ? (said ?? null) : null);
    if (here !== undefined) return;
    if (own.length > 0 && own.every(([, ended]) => ended !== undefined))
      throw new Violation(
        "S55",
        `peer ${slot} has ${own.length} slots after "${after}", all of which have ended`,
        "it asks for those that others have without saying so",
      );
  };

  const assertSpared = ({ slot, store }: Watched, to: PeerId, offer: MessageOf<"SnapshotOffer">): void => {
    const asked = compared.get(`${to} ${offer.nonce} ${offer.after}`);
    if (asked === undefined || asked === null || offer.items.length === 0) return;
    if (endsUpTo(slotsAfter(store, offer.after), asked.upTo) === asked.ends)
      throw new Violation(
        "S55",
        `peer ${to} has the slots after "${offer.after}" up to "${asked.upTo}" as peer ${slot} has them`,
        `it is sent ${offer.items.length} of them`,
      );
  };

  return {
    id: "S55",
    booted: ({ slot }) => void (rows[slot] = undefined),
    flushed: ({ slot, honest }, writes) => {
      for (const write of writes) replace(slot, honest, write);
    },
    sent: (peer, message, to) => {
      const { slot, honest, isDamaged } = peer;
      const mayLie = (ghost.lying & maskOf(slot)) !== 0;
      // Whoever is restored counts as honest again only afterwards.
      if (message._tag === "SnapshotRequest" && !mayLie && !isDamaged) assertCompared(peer, to, message);
      if (!honest || mayLie) return;
      if (message._tag === "SnapshotOffer" && !isDamaged) assertSpared(peer, to, message);
      const contents = contentsOf(message);
      if (contents === undefined) return;
      if (new Set(contents).size < contents.length)
        throw new Violation("S55", `peer ${slot} says a ${message._tag} to peer ${to}`, "something is in it twice");
    },
  };
};
