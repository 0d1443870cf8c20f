/** Which peers reach each other, how long it takes, and what is lost or arrives twice. */
import type { Choices, Stream } from "../base/Choices.ts";
import type { NetworkPlan } from "../base/Plan.ts";

/** One direction between two peers. Delays are microseconds, rates per thousand. */
export interface Link {
  cut: boolean;
  leastDelay: number;
  mostDelay: number;
  loss: number;
  duplication: number;
}

/** The longest way of a message; a slower one was lost. */
const SLOWEST_MICROS = 3_000_000;
/** The usual way of a message. */
const USUAL_MICROS = 600;

/** The way of one message. */
export interface Way {
  /** Microseconds until it arrives. */
  readonly takes: number;
  /** Whether it is handed over twice in a row. */
  readonly isTwice: boolean;
  /** Microseconds until a second copy arrives; undefined where there is none. */
  readonly copyTakes: number | undefined;
}

export class Network {
  readonly #links: ReadonlyArray<ReadonlyArray<Link>>;
  readonly #streams: ReadonlyArray<ReadonlyArray<Stream>>;
  readonly #redelivery: number;

  /**
   * @param peers how many; they are numbered from 1
   * @param redelivery how many messages in a thousand are handed over twice in a row
   */
  constructor(peers: number, plan: NetworkPlan, redelivery: number, choices: Choices) {
    this.#redelivery = redelivery;
    this.#streams = Array.from({ length: peers + 1 }, (_from, from) =>
      Array.from({ length: peers + 1 }, (_to, to) => choices.stream(`link ${from}>${to}`)),
    );
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

  /** Whether nothing comes from one peer to another, and something may come back. */
  isCutOneWay(from: number, to: number): boolean {
    return this.link(from, to).cut && !this.link(to, from).cut;
  }

  /** Decides the way of the next message from one peer to another; undefined where none of it arrives. */
  route(from: number, to: number): Way | undefined {
    const { cut, leastDelay, mostDelay, loss, duplication } = this.link(from, to);
    const unit = this.#stream(from, to).next();
    if (cut || unit.chance("lost", loss)) return undefined;
    const takes = unit.between("takes", USUAL_MICROS, leastDelay, mostDelay, 0, SLOWEST_MICROS);
    const isTwice = unit.chance("handed over twice", this.#redelivery);
    const copyTakes = unit.chance("doubled", duplication)
      ? takes + unit.between("the copy follows after", USUAL_MICROS, leastDelay, mostDelay, 0, SLOWEST_MICROS)
      : undefined;
    return { takes, isTwice, copyTakes };
  }

  #stream(from: number, to: number): Stream {
    const stream = this.#streams[from]?.[to];
    if (stream === undefined) throw new RangeError("no such peers");
    return stream;
  }

  /** Everything works again, quickly. */
  heal(plan: NetworkPlan): void {
    for (const link of this.links(() => true)) Object.assign(link, { cut: false, ...plan });
  }
}
