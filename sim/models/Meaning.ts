/** What requests mean for the history of a key, and what records show of it (H1). */

/** What one request asks for. Metadata is compared as the text it is given as. */
export interface Meaning {
  readonly kind: "register" | "replace";
  /** What names the key: requests with the same one compete for it. */
  readonly key: string;
  readonly id: string;
  readonly metadata: string;
  /** The revision that a replacement builds on; undefined for a registration. */
  readonly base: number | undefined;
  /** Another key that it would take besides. */
  readonly claims?: string;
}

/** A record as somebody saw it. */
export interface Seen {
  readonly id: string;
  readonly metadata: string;
  readonly revision: number;
}
