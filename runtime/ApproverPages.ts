/**
 * Pages of approvers (contract 4.1.1). The refs of each wanted term are found side by side in the index, by keys alone;
 * what all have in common is read and judged as an exact read judges it, and then by the filter itself. So a page costs
 * the same in a registry of any size, and a wrong index can leave out, but not put in.
 */
import { Either } from "effect";
import { type ApproverFilter, isWanted, metadataTerm, termPrefix, typeTerm } from "../core/commands/approvers/Terms.ts";
import { isIndexed } from "../core/commands/approvers/ApproverIndex.ts";
import { approverRef } from "../core/credential/ApproverRef.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { Settings } from "../core/protocol/Event.ts";
import { type Rejection, rejection } from "../core/base/Rejection.ts";
import type { RowView, TableName } from "../core/Tables.ts";
import type { KeyView } from "./PeerStore.ts";
import { damaged, guarded, readRefusal, type ReadRecord, recordAt } from "./Reads.ts";
import type { Standing } from "./Standing.ts";

export interface PagePorts {
  readonly view: RowView & KeyView;
  /** The published state at the moment. */
  readonly state: () => Standing;
  readonly crypto: Pick<Crypto, "sha256OfText" | "digest">;
  readonly settings: Pick<Settings, "capacities">;
  /** Called where a stored row did not hold, so that the peer stops signing. */
  readonly integrityLost: (where: string) => void;
}

export interface PageWanted {
  readonly filter: ApproverFilter;
  /** The lowest ref that may be on the page, or what comes before all refs that may; empty from the beginning. */
  readonly from: string;
  /** From 1. */
  readonly limit: number;
}

/** Where the next page begins; undefined after the last one. */
export type NextPage = string | undefined;

/** A run is worth another one of twice its length where more than one of so many of its keys was asked for. */
const KEYS_FOR_ONE = 16;
/** Work is counted in searches of the index, 25 µs each; so many keys are read in the time of one. */
const KEYS_PER_WORK = 64;
/** A row is read and verified in the time of so many searches. */
const ROW_WORK = 8;

/** Comes after a ref and before all longer texts and other refs that do. */
const AFTER = " ";

/** Where the page begins that follows one which ends with a ref. */
export const behind = (ref: string): string => ref + AFTER;

const unindexed = rejection(
  "INDEXING",
  "This peer is still making the index by which approvers are listed.",
  "Ask another peer, or repeat the request later; exact reads are answered meanwhile.",
);

/** Why this peer lists nothing, if so: what an exact read needs, all rows whole, and the index. */
export const listRefusal = (state: Standing): Rejection | undefined => {
  const refusal = readRefusal(state);
  if (refusal !== undefined) return refusal;
  // A damaged registry may lack rows, and a list could not tell.
  if (state.fitness.integrityFault !== undefined) return damaged;
  return isIndexed(state) ? undefined : unindexed;
};

/**
 * Ascending refs under a prefix of a table's keys; asked for ever higher ones. They are read in runs: twice as long as
 * the one before where that was asked for many of its refs, half as long where most were passed over.
 */
class Refs {
  readonly #view: KeyView;
  readonly #table: TableName;
  readonly #prefix: string;
  readonly #shortest: number;
  readonly #longest: number;
  #length: number;
  #run: ReadonlyArray<string> = [];
  #at = 0;
  #given = 0;
  #isLast = false;
  work = 0;

  constructor({ view, settings }: PagePorts, table: TableName, prefix: string, terms: number) {
    const { listedKeys, listedRuns } = settings.capacities;
    this.#view = view;
    this.#table = table;
    this.#prefix = prefix;
    this.#shortest = listedKeys;
    this.#longest = Math.max(Math.floor(listedRuns / terms), listedKeys);
    this.#length = listedKeys;
  }

  /** The first ref that is not below `from`. */
  seek(from: string): string | undefined {
    const lowest = this.#prefix + from;
    for (let key = this.#run[this.#at]; key !== undefined; key = this.#run[(this.#at += 1)])
      if (key >= lowest) return this.#refIn(key);
    if (this.#isLast) return undefined;
    const isDense = this.#given * KEYS_FOR_ONE > this.#length;
    this.#length = isDense
      ? Math.min(2 * this.#length, this.#longest)
      : Math.max(Math.floor(this.#length / 2), this.#shortest);
    this.work += 1 + this.#length / KEYS_PER_WORK;
    this.#run = this.#view.keys(this.#table, lowest, this.#length);
    this.#at = 0;
    this.#given = 0;
    this.#isLast = this.#run.length < this.#length;
    return this.#refIn(this.#run[0]);
  }

  /** The ref in a key of the run; after the last one under the prefix there is none. */
  #refIn(key: string | undefined): string | undefined {
    if (key?.startsWith(this.#prefix) !== true) return undefined;
    this.#given += 1;
    return key.slice(this.#prefix.length);
  }
}

const refsOf = (ports: PagePorts, { type, metadata }: ApproverFilter): ReadonlyArray<Refs> => {
  const terms = [...(type === undefined ? [] : [typeTerm(type)]), ...metadata.map(metadataTerm)];
  return terms.length === 0
    ? [new Refs(ports, "approvers", "", 1)]
    : terms.map((term) => new Refs(ports, "terms", termPrefix(ports.crypto, term), terms.length));
};

/**
 * One page: yields its records, sorted by ref, in slices between which something else may be done. Whether this peer
 * may answer is judged anew with every slice.
 *
 * Right: where the next page begins. A page that took too much work is short, and has a next one. Left: whatever
 * {@link listRefusal} says, and `INTEGRITY_FAILURE` for a row that does not hold. A store that cannot be read throws.
 */
export function* approverPage(
  ports: PagePorts,
  { filter, from, limit }: PageWanted,
): Generator<ReadonlyArray<ReadRecord>, Either.Either<NextPage, Rejection>> {
  const first = listRefusal(ports.state());
  if (first !== undefined) return Either.left(first);
  const lists = refsOf(ports, filter);
  const { listWork, searchWork } = ports.settings.capacities;
  const ofId = filter.id === undefined ? "" : approverRef(filter.id, "");
  let wanted = from > ofId ? from : ofId;
  let agreed = 0;
  let rows = 0;
  let found = 0;
  let last = "";
  let paused = 0;
  let slice: Array<ReadRecord> = [];
  for (let turn = 0; ; turn = (turn + 1) % lists.length) {
    const work = lists.reduce((sum, list) => sum + list.work, rows * ROW_WORK);
    const isLong = work - found * ROW_WORK >= searchWork;
    if (work - paused >= listWork) {
      paused = work;
      yield slice;
      slice = [];
      const refusal = listRefusal(ports.state());
      if (refusal !== undefined) return Either.left(refusal);
    }
    const sought = guarded(ports, () => Either.right(isLong ? wanted : lists[turn]?.seek(wanted)));
    if (Either.isLeft(sought)) return Either.left(sought.left);
    const ref = sought.right;
    const isEnd = ref?.startsWith(ofId) !== true;
    if (isEnd || isLong) {
      yield slice;
      return Either.right(isEnd ? undefined : ref);
    }
    agreed = ref === wanted ? agreed + 1 : 1;
    wanted = ref;
    if (agreed < lists.length) continue;
    if (found === limit) {
      yield slice;
      return Either.right(behind(last));
    }
    const record = recordAt(ports, ref);
    if (Either.isLeft(record)) return Either.left(record.left);
    rows += 1;
    // It may have changed or gone since its keys were read.
    if (record.right !== undefined && isWanted(filter, record.right.approver)) {
      slice.push(record.right);
      found += 1;
      last = ref;
    }
    wanted = behind(ref);
    agreed = 0;
  }
}
