/**
 * Signatures this process made itself: they hold, and looking one up costs a
 * hundredth of verifying it. A peer meets its own all the time, on its rows and
 * in certificates.
 */
import type { CryptoPrimitives } from "../../runtime/CryptoPrimitives.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";

/** Signatures remembered; older ones are verified like any other. */
const REMEMBERED = 8192;

interface Made {
  readonly key: Uint8Array;
  readonly message: Uint8Array;
}

const nameOf = (signature: Uint8Array): string =>
  Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString("latin1");

export class OwnSignatures {
  readonly #made = new RecentMap<Made>(REMEMBERED);

  /** Remembers a signature of this process; the arrays must not change afterwards. */
  remember(key: Uint8Array, message: Uint8Array, signature: Uint8Array): void {
    this.#made.set(nameOf(signature), { key, message });
  }

  /** The primitives with a verification that knows these signatures: the same verdicts, sooner. */
  knownTo(primitives: CryptoPrimitives): CryptoPrimitives {
    return {
      ...primitives,
      verifyEd25519: (key, message, signature) => {
        const made = this.#made.get(nameOf(signature));
        const known =
          made !== undefined && Buffer.compare(made.message, message) === 0 && Buffer.compare(made.key, key) === 0;
        return known || primitives.verifyEd25519(key, message, signature);
      },
    };
  }
}
