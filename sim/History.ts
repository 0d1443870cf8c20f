/**
 * What callers saw, held against a naive sequential registry (H1). Per key that
 * model is: the key is free; one registration takes it for one id, with the
 * metadata it came with, at revision 1; each replacement names the revision it
 * builds on and makes the next one. Every answer must be explained by an order of
 * the requests in which each one happens at one moment between being asked and
 * being answered; a request without a clear answer may have happened at any moment
 * after it was asked, or never.
 *
 * Since every success tells id, metadata and revision, the only order that can
 * explain the successes is the one of the revisions, so nothing has to be
 * searched: what remains to be seen is whether somebody could have made what was
 * seen, in time.
 *
 * Reads are answered by each peer from its own committed rows (contract 10.1). So
 * two peers may differ while a request is under way; what was acknowledged before
 * a read began every read must show, and no peer goes back.
 */
import { Violation } from "./Violation.ts";

export type OperationId = string;

/** What one request asks for. Metadata is compared as the text it is given as. */
export interface Asked {
  readonly kind: "register" | "replace";
  /** What names the key: requests with the same one compete for it. */
  readonly key: string;
  readonly id: string;
  readonly metadata: string;
  /** Of a replacement: the revision it builds on. */
  readonly base?: number;
}

/** A record as somebody saw it. */
export interface Seen {
  readonly id: string;
  readonly metadata: string;
  readonly revision: number;
}

/** `open`: nobody knows. `no`: it was not done and never will be. `taken`, `stale`: a no because of another request. */
export type Ending =
  | { readonly _tag: "done"; readonly created: boolean; readonly seen: Seen }
  | { readonly _tag: "no" | "taken" | "stale" | "open" };

interface Operation extends Asked {
  readonly name: OperationId;
  /** Microseconds. */
  readonly askedAt: number;
  isNo: boolean;
}

/** What is known of one key. */
interface Record {
  readonly operations: Array<Operation>;
  /** Who was told to have created it. */
  creator: Operation | undefined;
  /** The first success of any kind. */
  owner: { readonly id: string; readonly said: string } | undefined;
  /** When something was first known to be there. */
  knownSince: number;
  /** By revision: what it was first seen to hold. */
  readonly values: Map<number, { readonly metadata: string; readonly said: string }>;
  /** Ascending in both: from when on every look must show this revision at least. */
  readonly acknowledged: Array<{ readonly at: number; readonly revision: number; readonly said: string }>;
  /** By peer: the newest revision it has shown. */
  readonly shown: Map<number, number>;
}

const ID = "H1";

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
  asked(name: OperationId, at: number, asked: Asked): void {
    const operation = { ...asked, name, askedAt: at, isNo: false };
    this.#open.set(name, operation);
    this.#recordOf(asked.key).operations.push(operation);
  }

  /** Nobody will ever be told how it ended. */
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
    if (ending._tag === "taken") this.#assertTaken(record, operation);
    if (ending._tag === "stale") this.#assertStale(record, operation);
  }

  /**
   * A peer showed a record, or that it has none, to somebody who began to ask at
   * `from` microseconds; throws {@link Violation} where no order explains that.
   */
  read(peer: number, from: number, key: string, seen: Seen | undefined): void {
    const record = this.#records.get(key);
    if (record === undefined && seen === undefined) return;
    const known = record ?? this.#recordOf(key);
    const newest = known.acknowledged.findLast(({ at }) => at < from);
    const said = `peer ${peer} showed ${seen === undefined ? "nothing" : `revision ${seen.revision}`} at ${from} µs`;
    if (newest !== undefined && (seen?.revision ?? 0) < newest.revision) throw new Violation(ID, newest.said, said);
    const before = known.shown.get(peer) ?? 0;
    if ((seen?.revision ?? 0) < before)
      throw new Violation(ID, `peer ${peer} had shown revision ${before} of key ${key}`, said);
    if (seen === undefined) return;
    known.shown.set(peer, seen.revision);
    this.#assertExplained(known, seen, from, said);
  }

  #assertDone(record: Record, operation: Operation, at: number, created: boolean, seen: Seen): void {
    const said = `request ${operation.name} was told of success at ${at} µs`;
    const { creator, owner, knownSince } = record;
    if (owner !== undefined && owner.id !== operation.id)
      throw new Violation(ID, `${owner.said}: the key belongs to id ${owner.id}`, `${said} for id ${operation.id}`);
    if (operation.kind === "replace" && seen.revision !== (operation.base ?? 0) + 1)
      throw new Violation(
        ID,
        `request ${operation.name} builds on revision ${operation.base}`,
        `${said}, of revision ${seen.revision}`,
      );
    if (created || operation.kind === "replace") {
      if (seen.metadata !== operation.metadata)
        throw new Violation(
          ID,
          `request ${operation.name} brought metadata ${operation.metadata}`,
          `${said}, with ${seen.metadata}`,
        );
    }
    if (created) {
      if (creator !== undefined)
        throw new Violation(
          ID,
          `request ${creator.name} was told that it had created the approver`,
          `${said} too, as its creator`,
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
    // Who is told of an old revision after a newer one was acknowledged before the question has been told a lie.
    const newest = record.acknowledged.findLast((each) => each.at < operation.askedAt);
    if (newest !== undefined && newest.revision > seen.revision)
      throw new Violation(
        ID,
        `${newest.said}, of revision ${newest.revision}`,
        `${said}, of revision ${seen.revision}`,
      );
  }

  /** That somebody could have made what was seen, and that it is the same as at every earlier look. */
  #assertExplained(record: Record, seen: Seen, at: number, said: string): void {
    const value = record.values.get(seen.revision);
    if (value !== undefined && value.metadata !== seen.metadata)
      throw new Violation(
        ID,
        `${value.said}: revision ${seen.revision} has metadata ${value.metadata}`,
        `${said}, with ${seen.metadata}`,
      );
    if (record.owner !== undefined && record.owner.id !== seen.id)
      throw new Violation(
        ID,
        `${record.owner.said}: the key belongs to id ${record.owner.id}`,
        `${said}, under id ${seen.id}`,
      );
    const isMaker = (each: Operation): boolean =>
      !each.isNo &&
      each.askedAt <= at &&
      each.id === seen.id &&
      each.metadata === seen.metadata &&
      (seen.revision === 1 ? each.kind === "register" : each.kind === "replace" && each.base === seen.revision - 1);
    // A value that was explained stays explained, although whoever may have made it may be told no later.
    if (value === undefined && !record.operations.some(isMaker))
      throw new Violation(
        ID,
        `no request could have made revision ${seen.revision} with metadata ${seen.metadata} by then`,
        said,
      );
    if (record.creator !== undefined && record.creator.askedAt > at)
      throw new Violation(
        ID,
        `request ${record.creator.name} created the approver and was asked at ${record.creator.askedAt} µs`,
        said,
      );
    record.owner ??= { id: seen.id, said };
    record.values.set(seen.revision, value ?? { metadata: seen.metadata, said });
    record.knownSince = Math.min(record.knownSince, at);
  }

  /** A key is taken only by somebody else, who asked before this answer. */
  #assertTaken({ operations, owner }: Record, operation: Operation): void {
    const said = `request ${operation.name} was told that the key is taken`;
    if (owner !== undefined && owner.id === operation.id)
      throw new Violation(
        ID,
        `${owner.said}: the key belongs to id ${owner.id}`,
        `${said}, although it asked for that id`,
      );
    if (!operations.some((each) => each.id !== operation.id && !each.isNo))
      throw new Violation(ID, "nobody else ever asked for the key and may have got it", said);
  }

  /** A revision is stale only if another replacement of it may have happened, or it never was. */
  #assertStale({ operations, values }: Record, operation: Operation): void {
    const base = operation.base ?? 0;
    const isReplaced = operations.some(
      (each) => each !== operation && each.kind === "replace" && each.base === base && !each.isNo,
    );
    if (values.has(base) && !values.has(base + 1) && !isReplaced)
      throw new Violation(
        ID,
        `nobody else could have replaced revision ${base}`,
        `request ${operation.name} was told that it is stale`,
      );
  }
}
