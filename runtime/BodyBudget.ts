/**
 * Bytes of bodies held at once: in all, of one actor and of one address, so that no caller takes the others'
 * room. Bytes count once they have arrived; a length that is only declared takes nothing. Nobody waits: a body that
 * does not fit is refused.
 */
export interface BodyBounds {
  readonly all: number;
  readonly ofActor: number;
  readonly ofAddress: number;
}

/** The owner of the bytes. Operators have room of their own and need no name in it. */
export interface BodyHolder {
  readonly actor: string | undefined;
  readonly address: string;
}

/** The owner whose bound is reached. */
export type FullBudget = "all" | "actor" | "address";

/** The bytes of one body. */
export interface BodyAccount {
  /** Takes bytes; when they do not fit, takes none and says so. */
  readonly take: (bytes: number) => FullBudget | undefined;
  /** Gives back all that was taken. */
  readonly close: () => void;
}

export class BodyBudget {
  readonly #bounds: BodyBounds;
  readonly #actors = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  #held = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  get held(): number {
    return this.#held;
  }

  open({ actor, address }: BodyHolder): BodyAccount {
    const { all, ofActor, ofAddress } = this.#bounds;
    let taken = 0;
    const add = (bytes: number): void => {
      taken += bytes;
      this.#held += bytes;
      if (actor !== undefined) addTo(this.#actors, actor, bytes);
      addTo(this.#addresses, address, bytes);
    };
    return {
      take: (bytes) => {
        if (this.#held + bytes > all) return "all";
        if (actor !== undefined && (this.#actors.get(actor) ?? 0) + bytes > ofActor) return "actor";
        if ((this.#addresses.get(address) ?? 0) + bytes > ofAddress) return "address";
        add(bytes);
        return undefined;
      },
      close: () => add(-taken),
    };
  }
}

const addTo = (held: Map<string, number>, key: string, bytes: number): void => {
  const sum = (held.get(key) ?? 0) + bytes;
  if (sum === 0) held.delete(key);
  else held.set(key, sum);
};
