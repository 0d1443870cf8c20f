/** Remembers which tokens were verified a moment ago, so that many requests with one token cost one verification. */
import { createHash } from "node:crypto";
import { RecentMap } from "../../runtime/RecentMap.ts";

/** Tokens remembered; twice as many at most. */
const REMEMBERED = 512;
const mostAgeMillis = 60_000;

interface Entry<A> {
  readonly value: A;
  readonly generation: number;
  readonly storedAt: number;
}

/** Keyed by the SHA-256 of the token, so that it holds no bearer secret. */
export class VerifiedTokens<A> {
  readonly #entries = new RecentMap<Entry<A>>(REMEMBERED);

  /**
   * The value for a token, made by `make` unless one was made for the same key
   * set within the last minute. A value of another generation never counts: the
   * key behind it may have been removed since.
   */
  remember(token: string, generation: number, now: number, make: () => A): A {
    const key = createHash("sha256").update(token).digest("base64");
    const found = this.#entries.get(key);
    if (found !== undefined && found.generation === generation && now - found.storedAt < mostAgeMillis) {
      return found.value;
    }
    const value = make();
    this.#entries.set(key, { value, generation, storedAt: now });
    return value;
  }

  /** Forgets a value that turned out not to be worth keeping. */
  forget(token: string, value: A): void {
    const key = createHash("sha256").update(token).digest("base64");
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }
}
