/** The driver's store with a clock beside it and a listener for published transactions. */
import type { Rows, TableName, Write } from "../../core/Tables.ts";
import type { StoreFailure } from "../../runtime/ByteStore.ts";
import type { PeerStore } from "../../runtime/PeerStore.ts";

export interface StoreObserver {
  readonly elapsedMillis: () => number;
  readonly flushed: (millis: number, writes: ReadonlyArray<Write>) => void;
  /** The driver has published the state of this transaction and handled what waited behind it. */
  readonly published: () => void;
}

export const observedStore = (inner: PeerStore, observer: StoreObserver): PeerStore => ({
  atStart: inner.atStart,
  get: <T extends TableName>(table: T, key: string) => inner.get(table, key),
  scan: <T extends TableName>(
    table: T,
    after: string,
    limit: number,
  ): ReadonlyArray<{ readonly key: string; readonly row: Rows[T] }> => inner.scan(table, after, limit),
  commit: (writes: ReadonlyArray<Write>, done: (failure?: StoreFailure) => void) => {
    const startedAt = observer.elapsedMillis();
    inner.commit(writes, (failure) => {
      observer.flushed(observer.elapsedMillis() - startedAt, writes);
      done(failure);
      observer.published();
    });
  },
});
