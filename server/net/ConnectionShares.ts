/**
 * The connections of callers that are not authenticated, as their addresses share the room for them. Nothing here looks
 * at every connection: that would let arrivals that are turned away cost more than being served.
 */

interface Holder<C> {
  connections: number;
  /** Those that are not being served, the one that has waited longest first. */
  readonly idle: Set<C>;
}

export class ConnectionShares<C> {
  readonly #holders = new Map<string, Holder<C>>();
  /** Addresses with an idle connection, by their number of connections: few numbers, for they add up to all. */
  readonly #ranks = new Map<number, Set<Holder<C>>>();

  /** The number of connections of an address. */
  of(address: string): number {
    return this.#holders.get(address)?.connections ?? 0;
  }

  /** Counts a connection, which is idle to begin with. */
  add(address: string, connection: C): void {
    this.#change(address, (holder) => {
      holder.connections += 1;
      holder.idle.add(connection);
    });
  }

  /** Counts it no longer. */
  remove(address: string, connection: C): void {
    this.#change(address, (holder) => {
      holder.connections -= 1;
      holder.idle.delete(connection);
    });
  }

  /** It has a request under way. */
  busy(address: string, connection: C): void {
    this.#change(address, ({ idle }) => idle.delete(connection));
  }

  /** Nothing is done for it any more. */
  idle(address: string, connection: C): void {
    this.#change(address, ({ idle }) => idle.add(connection));
  }

  /**
   * Which connection makes room for one more of this address: the longest idle of the address that holds most. Undefined
   * where none holds more than this one would then, so that no two addresses can take each other's room in turns.
   */
  giving(address: string): C | undefined {
    let most = this.of(address) + 1;
    let fullest: ReadonlySet<Holder<C>> = new Set();
    for (const [connections, holders] of this.#ranks) {
      if (connections <= most) continue;
      most = connections;
      fullest = holders;
    }
    for (const { idle } of fullest) for (const longest of idle) return longest;
    return undefined;
  }

  #change(address: string, change: (holder: Holder<C>) => void): void {
    const holder = this.#holders.get(address) ?? { connections: 0, idle: new Set() };
    const rank = this.#ranks.get(holder.connections);
    rank?.delete(holder);
    if (rank?.size === 0) this.#ranks.delete(holder.connections);
    change(holder);
    const { connections, idle } = holder;
    if (connections === 0) this.#holders.delete(address);
    else this.#holders.set(address, holder);
    if (idle.size === 0) return;
    const next = this.#ranks.get(connections);
    if (next === undefined) this.#ranks.set(connections, new Set([holder]));
    else next.add(holder);
  }
}
