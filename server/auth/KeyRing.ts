/** The current token keys: fetched when needed, never more often than allowed, dropped when too old. */
import { Either } from "effect";
import type { LocalJWKSet } from "jose";
import { parseKeyDocument } from "./KeyDocument.ts";
import type { KeySource } from "./KeySource.ts";

/** One state of the key set. */
export interface KeySet {
  readonly keyFor: LocalJWKSet;
  /** Changes exactly when a fetched document differs from the one before. */
  readonly generation: number;
}

export interface KeyRingOptions {
  readonly source: KeySource;
  /** The name of the source in faults of the document. */
  readonly file?: string | undefined;
  /** How long the last good set serves, in milliseconds since it was fetched. */
  readonly maxAgeMillis: number;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
  /** Given every good document as it was fetched. */
  readonly fetched?: (document: Uint8Array) => void;
  /** Told why a fetch did not give new keys; the text holds no secret. */
  readonly report: (fault: string) => void;
}

/** At most one fetch in this time is caused by tokens that name an unknown key. */
const unknownKeyPauseMillis = 30_000;
/** After this a set is renewed in the background, so a removed key stops counting even if no new one is asked for. */
const mostRenewalMillis = 600_000;
/** How often a peer without any keys tries again. */
const emptyPauseMillis = 5000;

interface Held extends KeySet {
  readonly digest: string;
  readonly fetchedAt: number;
}

export class KeyRing {
  readonly #options: KeyRingOptions;
  /** Long before a set is too old, so that an issuer that answers never leaves callers without keys. */
  readonly #renewalMillis: number;
  #held: Held | undefined;
  #fetching: Promise<string | undefined> | undefined;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #isCutOff = false;
  /** The first fetch is not a refetch: keys that rotate right after the start are found at once. */
  #refetchedAt = Number.NEGATIVE_INFINITY;

  constructor(options: KeyRingOptions) {
    this.#options = options;
    this.#renewalMillis = Math.min(mostRenewalMillis, options.maxAgeMillis / 2);
  }

  /** Takes a document fetched so many milliseconds ago, where there is none yet; Left where it is no key set. */
  resume(document: Uint8Array, ageMillis: number): Either.Either<void, string> {
    return Either.map(parseKeyDocument(document), ({ keyFor, digest }) => {
      const fetchedAt = this.#options.elapsedMillis() - ageMillis;
      this.#held ??= { keyFor, digest, fetchedAt, generation: 1 };
    });
  }

  /** Fetches now. The result is undefined when there are keys afterwards, else why there are none. */
  async load(): Promise<string | undefined> {
    return this.#fetch();
  }

  /**
   * The keys there are now. Waits for nothing: where there are none, or they are due, they are fetched in the
   * background, so that a caller that asks often enough finds out when they are back.
   */
  get usable(): KeySet | undefined {
    return this.#now();
  }

  /** Whether the last fetch gave no keys: the issuer may have keys that this set lacks. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /**
   * The keys to verify with, or undefined when there are none that may still be used. Then it waits for the fetch
   * under way, unless the one before failed: an issuer that does not answer delays only the callers of one fetch.
   */
  async current(): Promise<KeySet | undefined> {
    if (this.#attemptedAt === Number.NEGATIVE_INFINITY) await this.#fetch();
    else if (this.#now() === undefined && this.#fetching !== undefined && !this.#isCutOff) await this.#fetching;
    return this.#now();
  }

  #now(): Held | undefined {
    const now = this.#options.elapsedMillis();
    const usable = this.#usable(now);
    if (usable === undefined) {
      if (this.#fetching === undefined && now - this.#attemptedAt >= emptyPauseMillis) void this.#fetch();
    } else if (now - usable.fetchedAt >= this.#renewalMillis && this.#mayRefetch(now)) void this.#refetch(now);
    return usable;
  }

  /**
   * The keys to try once more after `seen` did not have the one a token names:
   * newer ones, fetched now if that is allowed. Undefined when there are none.
   */
  async newerThan(seen: KeySet): Promise<KeySet | undefined> {
    const now = this.#options.elapsedMillis();
    if (this.#fetching !== undefined) await this.#fetching;
    else if (this.#held?.generation === seen.generation && this.#mayRefetch(now)) await this.#refetch(now);
    const usable = this.#usable(this.#options.elapsedMillis());
    return usable?.generation === seen.generation ? undefined : usable;
  }

  #usable(now: number): Held | undefined {
    return this.#held !== undefined && now - this.#held.fetchedAt < this.#options.maxAgeMillis ? this.#held : undefined;
  }

  #mayRefetch(now: number): boolean {
    return this.#fetching === undefined && now - this.#refetchedAt >= unknownKeyPauseMillis;
  }

  async #refetch(now: number): Promise<void> {
    this.#refetchedAt = now;
    await this.#fetch();
  }

  /** One fetch at a time; a caller that comes meanwhile gets the same one. */
  #fetch(): Promise<string | undefined> {
    this.#fetching ??= this.#fetchOnce().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchOnce(): Promise<string | undefined> {
    const startedAt = this.#options.elapsedMillis();
    this.#attemptedAt = startedAt;
    const { source, file, fetched } = this.#options;
    const bytes = await source();
    const document = Either.flatMap(bytes, (each) =>
      Either.mapLeft(parseKeyDocument(each), (fault) => (file === undefined ? fault : `${file} ${fault}`)),
    );
    this.#isCutOff = Either.isLeft(document);
    if (Either.isLeft(document)) {
      this.#options.report(document.left);
      return document.left;
    }
    const { keyFor, digest } = document.right;
    if (Either.isRight(bytes)) fetched?.(bytes.right);
    // Age counts from before the request: the answer was true then.
    const before = this.#held;
    this.#held =
      before?.digest === digest
        ? { ...before, fetchedAt: startedAt }
        : { keyFor, digest, fetchedAt: startedAt, generation: (before?.generation ?? 0) + 1 };
    return undefined;
  }
}
