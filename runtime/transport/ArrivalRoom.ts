/**
 * Room for messages while they arrive. The sender is known only when all of a message has arrived: so room for
 * strangers is small and apart from that of members, and a large message comes with a member's warrant or is not read.
 */
import type { Digest } from "../../core/base/Digest.ts";
import { STRANGER_BYTES } from "../EnvelopeCodec.ts";
import type { Warrant } from "../Warrant.ts";
import { type BodyAccount, BodyBudget } from "../BodyBudget.ts";

const mebibyte = 1024 ** 2;
/** Five of the largest messages, and of one member two of them. */
const MEMBERS = { all: 64 * mebibyte, ofActor: 32 * mebibyte, ofAddress: 64 * mebibyte };
/** A few hundred of the largest a stranger may send, and from one address thirty-two. */
const STRANGERS = { all: 16 * mebibyte, ofActor: 2 * mebibyte, ofAddress: 2 * mebibyte };

/** What is known of a message before any of it is read. */
export interface Arrival {
  /** Declared bytes. */
  readonly length: number;
  readonly address: string;
  /** Whether a member has been authenticated on this connection before. */
  readonly isProven: boolean;
  readonly warrant: Warrant | undefined;
}

export class ArrivalRoom {
  readonly #members = new BodyBudget(MEMBERS);
  readonly #strangers = new BodyBudget(STRANGERS);
  /** Warrants of messages that are arriving: a copied one lets nothing in beside its message. */
  readonly #warranted = new Set<Digest>();

  get held(): number {
    return this.#members.held + this.#strangers.held;
  }

  /** Room for one message, to be filled as it comes; undefined for a large one without a good warrant. */
  open({ length, address, isProven, warrant }: Arrival): BodyAccount | undefined {
    if (length <= STRANGER_BYTES)
      return (isProven ? this.#members : this.#strangers).open({ actor: undefined, address });
    if (warrant === undefined || warrant.length !== length || this.#warranted.has(warrant.nonce)) return undefined;
    this.#warranted.add(warrant.nonce);
    const { take, close } = this.#members.open({ actor: String(warrant.from), address });
    return {
      take,
      close: () => {
        this.#warranted.delete(warrant.nonce);
        close();
      },
    };
  }
}
