/**
 * Bytes of messages that the driver has not consumed yet, by the member that sent them: a member that lies, or is only
 * fast, leaves the others their room, and all of them together do not fill the memory.
 */
import type { PeerId } from "../../core/protocol/Topology.ts";

/** The least that a message takes: a short one needs far more memory than its bytes. */
const LEAST_BYTES = 32 * 1024;
/** Five of the largest messages, or two thousand small ones. */
const ALL_BYTES = 64 * 1024 * 1024;
/** Half of it for one member, so that none can stop the others alone. */
const MEMBER_BYTES = 32 * 1024 * 1024;

/** Room for one message, from its first byte until the driver has consumed it. */
export interface Parcel {
  /** Takes room for more bytes; false, and nothing taken, where there is none. */
  readonly grow: (bytes: number) => boolean;
  /** Gives all of it back; doing so again does nothing. */
  readonly release: () => void;
}

export class MailboxRoom {
  readonly #held = new Map<PeerId, number>();
  #all = 0;

  /** Bytes held of all members together. */
  get held(): number {
    return this.#all;
  }

  parcel(from: PeerId): Parcel {
    let length = 0;
    let charged = 0;
    let isReleased = false;
    const grow = (bytes: number): boolean => {
      const more = Math.max(LEAST_BYTES, length + bytes) - charged;
      if (isReleased || !this.#take(from, more)) return false;
      length += bytes;
      charged += more;
      return true;
    };
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#take(from, -charged);
    };
    return { grow, release };
  }

  #take(from: PeerId, bytes: number): boolean {
    const held = (this.#held.get(from) ?? 0) + bytes;
    if (bytes > 0 && (held > MEMBER_BYTES || this.#all + bytes > ALL_BYTES)) return false;
    this.#all += bytes;
    if (held === 0) this.#held.delete(from);
    else this.#held.set(from, held);
    return true;
  }
}
