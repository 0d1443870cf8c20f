/**
 * Envelopes sealed while the flush before them runs: signing and encoding then take no time of their own
 * on the way of a registration. Each leaves once, because its nonce is fresh once.
 */
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

export interface SealedAhead {
  readonly signer: Signer;
  readonly envelope: Uint8Array;
  /** Whether it has a signature. */
  readonly isSigned: boolean;
}

export class AheadSealed {
  /** A message that is never sent is forgotten with its envelope. */
  readonly #envelopes = new WeakMap<Message, Map<PeerId, SealedAhead>>();

  keep(to: PeerId, message: Message, sealed: SealedAhead): void {
    const known = this.#envelopes.get(message);
    if (known === undefined) this.#envelopes.set(message, new Map([[to, sealed]]));
    else known.set(to, sealed);
  }

  /** Takes the envelope of a message out; undefined when there is none, or when another key, or none, is in use now. */
  take(to: PeerId, message: Message, signer: Signer | undefined): SealedAhead | undefined {
    const known = this.#envelopes.get(message);
    const sealed = known?.get(to);
    known?.delete(to);
    return sealed !== undefined && sealed.signer === signer ? sealed : undefined;
  }
}
