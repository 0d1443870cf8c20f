/**
 * A helper that leaves out a part of the registry that it is asked for, and another one each time that it is asked from
 * the first page on: a restored peer takes back what is missing, goes through all again, and misses something else.
 * What it offers holds in every other way; beside that it tells the truth.
 */
import type { Message } from "../../core/Message.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { SnapshotItem } from "../../core/protocol/Snapshot.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Lie, Traitor } from "./Traitor.ts";

type Offer = MessageOf<"SnapshotOffer">;

const parts = ["one change", "all changes of one", "nothing"] as const;
type Part = (typeof parts)[number];

/** One time that it goes through its registry for somebody. */
interface Pass {
  readonly part: Part;
  /** Of the applied slots that it has, which one; another in each pass. */
  readonly at: number;
}

/** Its applied slots after a key, oldest first. */
const applied = ({ peer: { store } }: Traitor, after: string): ReadonlyArray<SnapshotItem> =>
  store.scan("slots", after, Number.MAX_SAFE_INTEGER).flatMap(({ key, row }): ReadonlyArray<SnapshotItem> => {
    const certificate = row.outcome === "APPLIED" ? store.get("certificates", row.proposalId) : undefined;
    return certificate === undefined
      ? []
      : [{ key, proposalId: row.proposalId, certificate, writerReceipt: undefined }];
  });

class Source {
  readonly #traitor: Traitor;
  /** By who asks. */
  readonly #passes = new Map<PeerId, Pass>();

  constructor(traitor: Traitor) {
    this.#traitor = traitor;
  }

  #passOf(to: PeerId, after: string): Pass {
    const known = this.#passes.get(to);
    if (known !== undefined && after !== "") return known;
    const at = known === undefined ? this.#traitor.next().between("leaves out", 0, 0, 3) : known.at + 1;
    const part = this.#traitor.next().named("of its registry", "nothing", parts, [4, 4, 1]);
    const pass = { part, at };
    this.#passes.set(to, pass);
    return pass;
  }

  /** What is missing in a pass: proposals of its registry. */
  #missing({ part, at }: Pass): ReadonlySet<string> {
    const all = applied(this.#traitor, "");
    const one = all[all.length - 1 - (at % Math.max(1, all.length))];
    if (part === "nothing" || one?.certificate === undefined) return new Set();
    if (part === "one change") return new Set([one.proposalId]);
    const { product } = this.#traitor.world;
    const { ref } = product.changeOf(one.certificate.proposal);
    return new Set(
      all
        .filter(({ certificate }) => certificate !== undefined && product.changeOf(certificate.proposal).ref === ref)
        .map(({ proposalId }) => proposalId),
    );
  }

  offers(to: PeerId, offer: Offer): Offer {
    const missing = this.#missing(this.#passOf(to, offer.after));
    const isWithin = (key: string): boolean => offer.upTo === undefined || key <= offer.upTo;
    // Where both have the same, it sends what it does not leave out.
    const items =
      offer.alike === undefined ? offer.items : applied(this.#traitor, offer.after).filter(({ key }) => isWithin(key));
    const shown = items.filter(({ proposalId }) => !missing.has(proposalId));
    if (shown.length === items.length) return offer;
    this.#traitor.world.marks.add("a source left out a part of the registry");
    return { ...offer, items: shown, alike: undefined };
  }
}

export const omittingSource = (): Lie => {
  let source: Source | undefined;
  return (traitor, to, message): ReadonlyArray<Message> => {
    if (message._tag !== "SnapshotOffer" || message.own !== undefined) return [message];
    source ??= new Source(traitor);
    return [source.offers(to, message)];
  };
};
