/** How the contract's cases get a store of each kind. */
import type { ByteStore } from "../../runtime/ByteStore.ts";

/** One disk and the store open on it. */
export interface OpenedStore {
  /** The store open now; another one after `reopen`. */
  readonly store: () => ByteStore;
  /** Keeps the next commit from finishing until `advance`. */
  readonly hold: () => void;
  /** Lets the commit under way finish; its `done` is called now or soon. Called after every commit. */
  readonly advance: () => void;
  /** Closes the store, whatever its state, and opens one on the same disk. */
  readonly reopen: () => Promise<void>;
  /** Closes the store and takes its disk away. */
  readonly dispose: () => Promise<void>;
}

export interface Implementation {
  readonly name: string;
  /** A store on an empty disk. */
  readonly open: () => Promise<OpenedStore>;
}
