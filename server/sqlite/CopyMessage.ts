/** The messages between the main thread and the copying thread. */
import type { StoreOpenReason } from "./StoreOpenError.ts";

/** The arguments of the copying thread. */
export interface CopyOptions {
  /** The database of a peer, which may be running. */
  readonly file: string;
  /** An empty file, closed to other users. */
  readonly target: string;
}

/** What was copied: a database that needs no log beside it. */
export interface Copied {
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
}

export type CopyReply =
  | ({ readonly kind: "copied" } & Copied)
  | { readonly kind: "failed"; readonly reason: StoreOpenReason; readonly why: string };
