/**
 * Bytes of request bodies held at once: in all, of one actor and of one address, so that no caller takes the others'
 * room. Bytes count when they are here; a length that is only declared takes nothing. Nobody waits: what does not fit
 * is refused.
 */
export interface BodyBounds {
  readonly all: number;
  readonly ofActor: number;
  readonly ofAddress: number;
}

/** Whose bytes they are. Operators have room of their own and need no name in it. */
export interface BodyHolder {
  readonly actor: string | undefined;
  readonly address: string;
}

/** Whose bound is reached. */
export type FullBudget = "all" | "actor" | "address";

/** The bytes of one body. */
export interface BodyAccount {
  /** Takes bytes; tells, and nothing is taken, when they do not fit. */
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
