/** Who reaches whom, how long it takes, and what is lost or arrives twice. */
import type { Prng } from "./Prng.ts";

/** One direction between two peers. Delays are microseconds, rates per thousand. */
export interface Link {
  cut: boolean;
  leastDelay: number;
  mostDelay: number;
  loss: number;
  duplication: number;
}

export interface NetworkPlan {
  readonly leastDelay: number;
  readonly mostDelay: number;
  readonly loss: number;
  readonly duplication: number;
}

export class Network {
  readonly #links: ReadonlyArray<ReadonlyArray<Link>>;
  readonly #random: Prng;

  /** @param peers how many; they are numbered from 1 */
  constructor(peers: number, plan: NetworkPlan, random: Prng) {
    this.#random = random;
    this.#links = Array.from({ length: peers + 1 }, () =>
      Array.from({ length: peers + 1 }, (): Link => ({ cut: false, ...plan })),
    );
  }

  link(from: number, to: number): Link {
    const link = this.#links[from]?.[to];
    if (link === undefined) throw new RangeError("no such peers");
    return link;
  }

  /** Every link for which `choose` holds. */
  links(choose: (from: number, to: number) => boolean): ReadonlyArray<Link> {
    return this.#links.flatMap((row, from) =>
      row.filter((_, to) => from > 0 && to > 0 && from !== to && choose(from, to)),
    );
  }

  /** After how long the copies of a message arrive: none, one or two delays in microseconds. */
  route(from: number, to: number): ReadonlyArray<number> {
    const { cut, leastDelay, mostDelay, loss, duplication } = this.link(from, to);
    if (cut || this.#random.chance(loss)) return [];
    const first = this.#random.between(leastDelay, mostDelay);
    if (!this.#random.chance(duplication)) return [first];
    return [first, first + this.#random.between(leastDelay, mostDelay)];
  }

  /** Everything works again, quickly. */
  heal(plan: NetworkPlan): void {
    for (const link of this.links(() => true)) Object.assign(link, { cut: false, ...plan });
  }
}
