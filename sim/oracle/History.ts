/**
 * Compares what callers saw with a naive sequential registry (H1). Per key that model is: the key is free; one
 * registration takes it for one id, with the metadata it came with, at revision 1; each replacement names the revision
 * it builds on and makes the next one. Every answer must be explained by an order of the requests in which each one
 * happens at one moment between question and answer; a request without a clear answer may have happened at any moment
 * after it was asked, or never.
 *
 * Since every success tells id, metadata and revision, the only order that can explain the successes is that of the
 * revisions, so nothing has to be searched: what remains to be checked is whether a request could have made what was
 * seen, in time.
 *
 * Each peer answers reads from its own committed rows (contract 10.1). So two peers may differ while a request is
 * under way; but every read must show what was acknowledged before it began, and no peer goes back.
 */
import { Violation } from "../base/Violation.ts";
import type { Meaning, Seen } from "../models/Meaning.ts";

export type OperationId = string;

/** `open`: unknown. `no`: it was not done and never will be. `taken`, `stale`: a no because of another request. */
export type Ending =
  | { readonly _tag: "done"; readonly created: boolean; readonly seen: Seen }
  | { readonly _tag: "no" | "taken" | "stale" | "open" };

/**
 * When a request or a peer showed something. It is made into a sentence only when it contradicts another one: of what
 * callers see, nothing else is ever read.
 */
interface Look {
  /** The request that was answered, or the peer that was read. */
  readonly by: OperationId | number;
  /** The revision that was shown; undefined for nothing. */
  readonly revision: number | undefined;
  /** Microseconds. */
  readonly at: number;
}

const sentenceOf = ({ by, revision, at }: Look): string =>
  typeof by === "number"
    ? `peer ${by} showed ${revision === undefined ? "nothing" : `revision ${revision}`} at ${at} µs`
    : `request ${by} was told of success at ${at} µs`;

interface Operation extends Meaning {
  readonly name: OperationId;
  /** Microseconds. */
  readonly askedAt: number;
  isNo: boolean;
}

/** All that is known of one key. */
interface Record {
  readonly operations: Array<Operation>;
  /** The request that was told that it created it. */
  creator: Operation | undefined;
  /** The first success of any kind. */
  owner: { readonly id: string; readonly said: Look } | undefined;
  /** When it was first known that a request had made something. */
  knownSince: number;
  /** By revision: what it was first seen to hold. */
  readonly values: Map<number, { readonly metadata: string; readonly said: Look }>;
  /** When the key was first known to be taken. */
  readonly acknowledged: Array<{ readonly at: number; readonly revision: number; readonly said: Look }>;
  /** By peer: the newest revision it has shown. */
  readonly shown: Map<number, number>;
}

const ID = "H1";

/** Whether a request may have been done by a moment and have made what was seen. */
const mayHaveMade = (each: Operation, seen: Seen, at: number): boolean =>
  !each.isNo &&
  each.askedAt <= at &&
  each.id === seen.id &&
  each.metadata === seen.metadata &&
  (seen.revision === 1 ? each.kind === "register" : each.kind === "replace" && each.base === seen.revision - 1);

/** The newest revision that was acknowledged before a moment. */
const acknowledgedBefore = ({ acknowledged }: Record, at: number): Record["acknowledged"][number] | undefined => {
  for (let index = acknowledged.length - 1; index >= 0; index--) {
    const each = acknowledged[index];
    if (each !== undefined && each.at < at) return each;
  }
  return undefined;
};

export class History {
  readonly #open = new Map<OperationId, Operation>();
  readonly #records = new Map<string, Record>();

  #recordOf(key: string): Record {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const record: Record = {
      operations: [],
      creator: undefined,
      owner: undefined,
      knownSince: Number.POSITIVE_INFINITY,
      values: new Map(),
      acknowledged: [],
      shown: new Map(),
    };
    this.#records.set(key, record);
    return record;
  }

  /** A request is sent, `at` microseconds. */
  asked(name: OperationId, at: number, asked: Meaning): void {
    const operation: Operation = { ...asked, name, askedAt: at, isNo: false };
    this.#open.set(name, operation);
    this.#recordOf(asked.key).operations.push(operation);
    if (asked.claims !== undefined) this.#recordOf(asked.claims).operations.push(operation);
  }

  /** No caller will ever be told how it ended. */
  forgot(name: OperationId): void {
    this.#open.delete(name);
  }

  /** Its caller is told how it ended; throws {@link Violation} where no order explains that. */
  ended(name: OperationId, at: number, ending: Ending): void {
    const operation = this.#open.get(name);
    if (operation === undefined) return;
    this.#open.delete(name);
    const record = this.#recordOf(operation.key);
    if (ending._tag === "open") return;
    if (ending._tag === "done") return this.#assertDone(record, operation, at, ending.created, ending.seen);
    operation.isNo = true;
    if (ending._tag === "taken") this.#assertTaken(this.#recordOf(operation.claims ?? operation.key), operation);
    if (ending._tag === "stale") this.#assertStale(record, operation);
  }

  /**
   * A peer showed a record, or that it has none, to a reader who asked at `from` microseconds; throws {@link Violation}
   * where no order explains that.
   */
  read(peer: number, from: number, key: string, seen: Seen | undefined): void {
    const record = this.#records.get(key);
    if (record === undefined && seen === undefined) return;
    const known = record ?? this.#recordOf(key);
    const newest = acknowledgedBefore(known, from);
    const said: Look = { by: peer, revision: seen?.revision, at: from };
    if (newest !== undefined && (seen?.revision ?? 0) < newest.revision)
      throw new Violation(ID, sentenceOf(newest.said), sentenceOf(said));
    const before = known.shown.get(peer) ?? 0;
    if ((seen?.revision ?? 0) < before)
      throw new Violation(ID, `peer ${peer} had shown revision ${before} of key ${key}`, sentenceOf(said));
    if (seen === undefined) return;
    known.shown.set(peer, seen.revision);
    this.#assertExplained(known, seen, from, said);
  }

  /**
   * A peer takes the registry from the others, as its operator declared. What no caller was told of as done, and no
   * other peer has shown, may be gone with its disk: only restored peers had applied it. The rest binds it as before.
   */
  restored(peer: number): void {
    for (const { acknowledged, shown, values } of this.#records.values()) {
      if (!shown.delete(peer)) continue;
      const kept = Math.max(acknowledged.at(-1)?.revision ?? 0, ...shown.values());
      for (const revision of values.keys()) if (revision > kept) values.delete(revision);
    }
  }

  /**
   * Every peer takes up the union of all their disks, by key the newest revision; a key missing there never was.
   * Later revisions are gone for everybody, and changes that were told to be impossible may have come back: whether a
   * disk knew better is judged by checkers that see disks (S26).
   */
  cutBack(left: ReadonlyMap<string, number>): void {
    for (const [key, record] of this.#records) {
      const newest = left.get(key) ?? 0;
      for (const operation of record.operations) operation.isNo = false;
      for (const revision of record.values.keys()) if (revision > newest) record.values.delete(revision);
      while ((record.acknowledged.at(-1)?.revision ?? 0) > newest) record.acknowledged.pop();
      if (newest > 0) continue;
      record.creator = undefined;
      record.owner = undefined;
      record.knownSince = Number.POSITIVE_INFINITY;
    }
  }

  #assertDone(record: Record, operation: Operation, at: number, created: boolean, seen: Seen): void {
    const said: Look = { by: operation.name, revision: seen.revision, at };
    const { creator, owner, knownSince } = record;
    if (owner !== undefined && owner.id !== operation.id)
      throw new Violation(
        ID,
        `${sentenceOf(owner.said)}: the key belongs to id ${owner.id}`,
        `${sentenceOf(said)} for id ${operation.id}`,
      );
    if (operation.kind === "replace" && seen.revision !== (operation.base ?? 0) + 1)
      throw new Violation(
        ID,
        `request ${operation.name} builds on revision ${operation.base}`,
        `${sentenceOf(said)}, of revision ${seen.revision}`,
      );
    if (created || operation.kind === "replace") {
      if (seen.metadata !== operation.metadata)
        throw new Violation(
          ID,
          `request ${operation.name} brought metadata ${operation.metadata}`,
          `${sentenceOf(said)}, with ${seen.metadata}`,
        );
    }
    if (created) {
      if (creator !== undefined)
        throw new Violation(
          ID,
          `request ${creator.name} was told that it had created the approver`,
          `${sentenceOf(said)} too, as its creator`,
        );
      if (knownSince < operation.askedAt)
        throw new Violation(
          ID,
          `the approver was there at ${knownSince} µs`,
          `request ${operation.name}, asked at ${operation.askedAt} µs, was told that it had created it`,
        );
      record.creator = operation;
    }
    this.#assertExplained(record, seen, at, said);
    if (seen.revision > (record.acknowledged.at(-1)?.revision ?? 0))
      record.acknowledged.push({ at, revision: seen.revision, said });
    // To show an old revision after a newer one was acknowledged before the question is a lie.
    const newest = acknowledgedBefore(record, operation.askedAt);
    if (newest !== undefined && newest.revision > seen.revision)
      throw new Violation(
        ID,
        `${sentenceOf(newest.said)}, of revision ${newest.revision}`,
        `${sentenceOf(said)}, of revision ${seen.revision}`,
      );
  }

  /** Checks that a request could have made what was seen, and that it is the same as at every earlier look. */
  #assertExplained(record: Record, seen: Seen, at: number, said: Look): void {
    const value = record.values.get(seen.revision);
    if (value !== undefined && value.metadata !== seen.metadata)
      throw new Violation(
        ID,
        `${sentenceOf(value.said)}: revision ${seen.revision} has metadata ${value.metadata}`,
        `${sentenceOf(said)}, with ${seen.metadata}`,
      );
    if (record.owner !== undefined && record.owner.id !== seen.id)
      throw new Violation(
        ID,
        `${sentenceOf(record.owner.said)}: the key belongs to id ${record.owner.id}`,
        `${sentenceOf(said)}, under id ${seen.id}`,
      );
    // A value that was explained stays explained, even if the request that may have made it is told no later.
    if (value === undefined && !record.operations.some((each) => mayHaveMade(each, seen, at)))
      throw new Violation(
        ID,
        `no request could have made revision ${seen.revision} with metadata ${seen.metadata} by then`,
        sentenceOf(said),
      );
    if (record.creator !== undefined && record.creator.askedAt > at)
      throw new Violation(
        ID,
        `request ${record.creator.name} created the approver and was asked at ${record.creator.askedAt} µs`,
        sentenceOf(said),
      );
    record.owner ??= { id: seen.id, said };
    if (value === undefined) record.values.set(seen.revision, { metadata: seen.metadata, said });
    record.knownSince = Math.min(record.knownSince, at);
  }

  /** A key is taken only by another request, asked before this answer. */
  #assertTaken({ operations, owner }: Record, operation: Operation): void {
    const said = `request ${operation.name} was told that the key is taken`;
    if (owner !== undefined && owner.id === operation.id)
      throw new Violation(
        ID,
        `${sentenceOf(owner.said)}: the key belongs to id ${owner.id}`,
        `${said}, although it asked for that id`,
      );
    if (!operations.some((each) => each.id !== operation.id && !each.isNo))
      throw new Violation(ID, "nobody else ever asked for the key and may have got it", said);
  }

  /** A revision that was there before the question is stale only if another replacement of it may have happened. */
  #assertStale({ operations, values }: Record, operation: Operation): void {
    const base = operation.base ?? 0;
    const value = values.get(base);
    // A revision that was yet to come, or never was, is not the current one at the moment of the question.
    if (value === undefined || operation.askedAt <= value.said.at) return;
    const isReplaced = operations.some(
      (each) => each !== operation && each.kind === "replace" && each.base === base && !each.isNo,
    );
    if (!values.has(base + 1) && !isReplaced)
      throw new Violation(
        ID,
        `nobody else could have replaced revision ${base}`,
        `request ${operation.name} was told that it is stale`,
      );
  }
}
