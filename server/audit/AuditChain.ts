/** Proves events of one peer's audit to be one unbroken chain, or names the first that does not fit. */
import { Either } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { NO_DIGEST } from "../../core/protocol/SignedState.ts";
import type { AuditRow } from "../../runtime/AuditReads.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { readAuditEvent } from "./AuditEvent.ts";

/** A place in a chain: an event's sequence number and hash. */
export interface ChainPlace {
  readonly seq: number;
  /** Undefined where it is not known: then the first event is believed to follow it. */
  readonly hash: Digest | undefined;
}

/** The place before the first event of every chain. */
export const CHAIN_START: ChainPlace = { seq: 0, hash: NO_DIGEST };

/** How far back an event may be repeated: whoever delivers at least once goes back a few. */
const REMEMBERED = 4096;

const seqOf = (value: unknown): number | undefined => {
  const data: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "data") : undefined;
  const seq: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "seq") : undefined;
  return typeof seq === "number" ? seq : undefined;
};

export class AuditChain {
  readonly #crypto: Pick<Crypto, "digest">;
  readonly #hashes = new RecentMap<Digest>(REMEMBERED);
  readonly #keyVersions = new Set<number>();
  #last: ChainPlace;
  #peerId: number | undefined;
  #events = 0;
  #repeated = 0;

  /** @param after the place that the first event follows */
  constructor(crypto: Pick<Crypto, "digest">, after: ChainPlace = CHAIN_START) {
    this.#crypto = crypto;
    this.#last = after;
    if (after.hash !== undefined) this.#hashes.set(String(after.seq), after.hash);
  }

  /** The last event of the chain so far. */
  get last(): ChainPlace {
    return this.#last;
  }

  /** Whose chain it is; undefined before the first event. */
  get peerId(): number | undefined {
    return this.#peerId;
  }

  /** Different events so far. */
  get events(): number {
    return this.#events;
  }

  /** Events that came once more, unchanged. */
  get repeated(): number {
    return this.#repeated;
  }

  /** The versions of the integrity key that the peer sealed these rows with, ascending. */
  get integrityKeyVersions(): ReadonlyArray<number> {
    return [...this.#keyVersions].toSorted((left, right) => left - right);
  }

  /** Takes the next event, as parsed JSON; the result says what is wrong with it, if anything is. */
  take(value: unknown): string | undefined {
    const read = readAuditEvent(this.#crypto, value);
    if (Either.isRight(read)) return this.#follow(read.right);
    const seq = seqOf(value);
    return `${seq === undefined ? `the event after sequence ${this.#last.seq}` : `sequence ${seq}`}: ${read.left}`;
  }

  #follow({ row, hash }: AuditRow): string | undefined {
    const { seq, peerId } = row;
    const last = this.#last;
    if (this.#peerId !== undefined && peerId !== this.#peerId)
      return `sequence ${seq}: it is of peer ${peerId}, and those before it of peer ${this.#peerId}`;
    if (seq <= last.seq) return this.#repeat(seq, hash);
    if (seq !== last.seq + 1) return `sequence ${last.seq + 1}: it is missing; sequence ${seq} comes next`;
    if (last.hash !== undefined && row.prevHash !== last.hash)
      return `sequence ${seq}: it does not follow sequence ${last.seq}, but an event with another hash`;
    this.#peerId = peerId;
    this.#events += 1;
    this.#keyVersions.add(row.integrityKeyVersion);
    this.#hashes.set(String(seq), hash);
    this.#last = { seq, hash };
    return undefined;
  }

  #repeat(seq: number, hash: Digest): string | undefined {
    const known = this.#hashes.get(String(seq));
    if (known === undefined) return `sequence ${seq}: it comes after sequence ${this.#last.seq}`;
    if (known !== hash) return `sequence ${seq}: it is there twice, with different content`;
    this.#repeated += 1;
    return undefined;
  }
}
