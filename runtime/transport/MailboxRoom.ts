/**
 * Bytes of messages that the driver has not consumed yet, by the member that sent them: a member that lies, or is only
 * fast, leaves the others their room, and all of them together do not fill the memory.
 */
import type { PeerId } from "../../core/protocol/Topology.ts";

/** The least that a message takes: a short one needs far more memory than its bytes. */
export const LEAST_BYTES = 32 * 1024;

/** Whoever says things under a name that nothing vouches for: together they take one member's room, and nobody else's. */
export const STRANGERS: PeerId = 0;

/** Bytes. */
export interface RoomLimits {
  readonly all: number;
  readonly ofMember: number;
}

export const roomLimits: RoomLimits = {
  /** Five of the largest messages, or two thousand small ones. */
  all: 64 * 1024 * 1024,
  /** Half of it for one member, so that none can stop the others alone. */
  ofMember: 32 * 1024 * 1024,
};

/** Room for one message, from its first byte until the driver has consumed it. */
export class Parcel {
  readonly #room: MailboxRoom;
  readonly #from: PeerId;
  #length = 0;
  #charged = 0;
  #isReleased = false;

  constructor(room: MailboxRoom, from: PeerId) {
    this.#room = room;
    this.#from = from;
  }

  /** Takes room for more bytes; false, and nothing taken, where there is none. */
  grow(bytes: number): boolean {
    const more = Math.max(LEAST_BYTES, this.#length + bytes) - this.#charged;
    if (this.#isReleased || !this.#room.take(this.#from, more)) return false;
    this.#length += bytes;
    this.#charged += more;
    return true;
  }

  /** Gives all of it back; doing so again does nothing. */
  readonly release = (): void => {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#room.take(this.#from, -this.#charged);
  };
}

export class MailboxRoom {
  readonly #limits: RoomLimits;
  readonly #held = new Map<PeerId, number>();
  #all = 0;

  constructor(limits = roomLimits) {
    this.#limits = limits;
  }

  /** Bytes held of all members together. */
  get held(): number {
    return this.#all;
  }

  parcel(from: PeerId): Parcel {
    return new Parcel(this, from);
  }

  /** Takes room for a member's bytes, or gives it back where they are negative; false, and nothing taken, without room. */
  take(from: PeerId, bytes: number): boolean {
    const held = (this.#held.get(from) ?? 0) + bytes;
    if (bytes > 0 && (held > this.#limits.ofMember || this.#all + bytes > this.#limits.all)) return false;
    this.#all += bytes;
    if (held === 0) this.#held.delete(from);
    else this.#held.set(from, held);
    return true;
  }
}
