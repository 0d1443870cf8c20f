/**
 * Signatures this process made itself: they hold, and looking one up costs a fiftieth of verifying it. A peer meets its
 * own all the time, on its rows and in certificates. The signed bytes are remembered by their digest: an envelope may
 * have 12 MiB and bearer tokens in it, and a short one pins a slab.
 */
import type { CryptoPrimitives } from "../../runtime/CryptoPrimitives.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";

/** Signatures remembered; older ones are verified like any other. */
const REMEMBERED = 8192;

interface Made {
  readonly key: Uint8Array;
  /** SHA-256 of the signed bytes. */
  readonly digest: string;
}

const nameOf = (signature: Uint8Array): string =>
  Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString("latin1");

export class OwnSignatures {
  readonly #made = new RecentMap<Made>(REMEMBERED);
  readonly #primitives: CryptoPrimitives;

  constructor(primitives: CryptoPrimitives) {
    this.#primitives = primitives;
  }

  /** Remembers a signature of this process; the key must not change afterwards. */
  remember(key: Uint8Array, message: Uint8Array, signature: Uint8Array): void {
    this.#made.set(nameOf(signature), { key, digest: this.#primitives.sha256Hex(message) });
  }

  /** The primitives with a verification that knows these signatures: the same verdicts, sooner. */
  get primitives(): CryptoPrimitives {
    const { sha256Hex, verifyEd25519 } = this.#primitives;
    return {
      ...this.#primitives,
      verifyEd25519: (key, message, signature) => {
        const made = this.#made.get(nameOf(signature));
        const known = made !== undefined && Buffer.compare(made.key, key) === 0 && made.digest === sha256Hex(message);
        return known || verifyEd25519(key, message, signature);
      },
    };
  }
}
