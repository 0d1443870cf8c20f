/** The integrity keys after the first: stored encrypted, brought into memory at every unseal. */
import { numberKey } from "../../core/protocol/Tables.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { SealedStore } from "../../runtime/SealedStore.ts";
import type { PeerKeys } from "../crypto/CryptoBackend.ts";

/** Far more than anybody rotates; each page is read at once. */
const PAGE = 64;

/**
 * Brings every later key of the history into a store that has the first one.
 *
 * @returns where the history does not hold, or undefined
 */
export const bringLaterKeys = (store: SealedStore, keys: PeerKeys): string | undefined => {
  try {
    for (let after = numberKey(0); ; ) {
      const page = store.scan("integrity", after, PAGE);
      for (const { key, row } of page) {
        const seed = keys.later.unwrap(row.publicKey, row.blob);
        if (seed === undefined) return `integrity/${key}: its private key cannot be decrypted`;
        store.addKey(keys.integrityKeyOf(seed));
        seed.fill(0);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return undefined;
      after = last.key;
    }
  } catch (fault) {
    if (fault instanceof IntegrityFailure) return fault.message;
    throw fault;
  }
};
