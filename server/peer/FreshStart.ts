/**
 * Initializations of a peer. Until it was unsealed once, initializing it again mints new keys; the rows of the first
 * attempt are sealed with keys that are lost, so the new ones replace them in one transaction.
 */
import type { Answer } from "../../core/Action.ts";
import { rejection } from "../../core/base/Rejection.ts";
import { type TableName, tableNames } from "../../core/Tables.ts";
import type { ByteStore, Change, StoredRow, StoreFailure } from "../../runtime/ByteStore.ts";
import type { PeerKeys } from "../crypto/CryptoBackend.ts";
import type { Initialization, Running } from "./PeerPorts.ts";
import type { PromisedCallers } from "./PromisedCallers.ts";

/** Rows before the first unseal: the peer, its vault, its counters and the head; far below this. */
const MOST_ROWS = 64;

/** A byte store that looks empty until its first commit, which then replaces everything that is really there. */
export class FreshStart implements ByteStore {
  readonly #inner: ByteStore;
  readonly #landed: () => void;
  #begun = false;
  #isUnderWay = false;

  /** @param landed told once the first commit is on the disk, and whoever made it knows */
  constructor(inner: ByteStore, landed: () => void = () => undefined) {
    this.#inner = inner;
    this.#landed = landed;
  }

  /** Whether the first commit is on its way to the disk. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  readonly get = (table: TableName, key: string): StoredRow | undefined =>
    this.#begun ? this.#inner.get(table, key) : undefined;

  readonly scan = (table: TableName, after: string, limit: number): ReturnType<ByteStore["scan"]> =>
    this.#begun ? this.#inner.scan(table, after, limit) : [];

  readonly keys = (table: TableName, from: string, limit: number): ReadonlyArray<string> =>
    this.#begun ? this.#inner.keys(table, from, limit) : [];

  readonly commit = (changes: ReadonlyArray<Change>, done: (failure?: StoreFailure) => void): void => {
    if (this.#begun) return this.#inner.commit(changes, done);
    this.#isUnderWay = true;
    this.#inner.commit(this.#replacing(changes), (failure) => {
      this.#isUnderWay = false;
      this.#begun = failure === undefined;
      done(failure);
      if (failure === undefined) this.#landed();
    });
  };

  #replacing(changes: ReadonlyArray<Change>): ReadonlyArray<Change> {
    const old = new Map<string, Change>();
    for (const table of tableNames)
      for (const { key } of this.#inner.scan(table, "", MOST_ROWS))
        old.set(`${table} ${key}`, { op: "remove", table, key });
    const replaced = changes.map((change): Change => {
      const there = old.delete(`${change.table} ${change.key}`);
      return there && change.op === "insert" ? { ...change, op: "replace" } : change;
    });
    return [...replaced, ...old.values()];
  }
}

/** What is answered meanwhile to whoever hands in a share. */
export const beingInitialized = rejection(
  "NOT_INITIALIZED",
  "The initialization of this peer is still being written.",
  "Ask for its status, and repeat this then.",
);

/** To whoever initializes it once more meanwhile. */
const underWay: Answer = {
  _tag: "Rejected",
  rejection: rejection(
    "APPROVER_REPLICATION_UNAVAILABLE",
    "An earlier initialization of this peer is still being written.",
    "Ask for the status of this peer, and repeat it then.",
    { outcomeUnknown: true },
  ),
};

const LATE = "The initialization was not written in time; ask for the status of this peer.";

export interface InitializingPorts {
  readonly bytes: ByteStore;
  /** Starts a driver that seals rows with these keys. */
  readonly start: (bytes: ByteStore, keys: PeerKeys) => Running;
  readonly ask: PromisedCallers["ask"];
  /** Told of the driver that goes on from here: what it was told to write is on the disk, however late. */
  readonly landed: (next: Running) => void;
}

/** One initialization after the other, each by a driver of its own beside the one that runs. */
export class Initializing {
  readonly #ports: InitializingPorts;
  #fresh: FreshStart | undefined;
  #next: Running | undefined;

  constructor(ports: InitializingPorts) {
    this.#ports = ports;
  }

  /** Whether one is on its way to the disk: nothing else may be written until it has landed. */
  get isUnderWay(): boolean {
    return this.#fresh?.isUnderWay === true;
  }

  /**
   * Has the peer initialized. The keys are out of use afterwards.
   *
   * @param running the driver that refuses, where the peer cannot be initialized any more
   */
  async begin(keys: PeerKeys, vault: Uint8Array, numbers: Initialization, running?: Running): Promise<Answer> {
    if (this.isUnderWay) return underWay;
    const fresh = new FreshStart(this.#ports.bytes, () => this.#landed(next));
    const next = running ?? this.#ports.start(fresh, keys);
    if (running === undefined) [this.#fresh, this.#next] = [fresh, next];
    const answer = await this.#ports.ask(
      (requestId) =>
        next.driver.dispatch({
          _tag: "Initialize",
          requestId,
          ...numbers,
          identityKey: keys.identity.publicKey,
          integrityKey: keys.integrity.publicKey,
          vault,
        }),
      LATE,
    );
    // Its caller may be gone before the flush ends, which needs the key to the end.
    if (running === undefined && !fresh.isUnderWay) next.store.useKey(undefined);
    return answer;
  }

  /** The process ends: nothing takes over any more. */
  stop(): void {
    this.#next?.driver.stop();
  }

  #landed(next: Running): void {
    // Stopped before the flush ended: the next process finds the rows.
    if (next.driver.state.cluster.peer === undefined) return;
    next.store.useKey(undefined);
    this.#ports.landed(next);
  }
}
