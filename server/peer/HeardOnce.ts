/**
 * The newest signed messages of each key that is known here, which are taken in once: whoever has kept a copy gets
 * nothing for it, and takes neither room nor answers from the member that once said it. In a session each message
 * has its place instead. Keys are few; what a process has forgotten the protocol takes for what it is, an old message.
 */
import type { Digest, PublicKey } from "../../core/base/Digest.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";

/** Of each key, many times as many as are ever on their way. */
const REMEMBERED = 1024;

export class HeardOnce {
  readonly #keys = new Map<PublicKey, RecentMap<true>>();

  /** Whether it is heard for the first time; from then on it is not. */
  readonly isFirst = (key: PublicKey, nonce: Digest): boolean => {
    const heard = this.#keys.get(key) ?? new RecentMap<true>(REMEMBERED);
    this.#keys.set(key, heard);
    if (heard.get(nonce) === true) return false;
    heard.set(nonce, true);
    return true;
  };
}
