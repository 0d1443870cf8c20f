/**
 * A helper that leaves out a part of the registry that it is asked for, and another one each time that it is asked from
 * the first page on: a restored peer takes back what is missing, goes through all again, and misses something else.
 * Where it is the writer it may go on behind its last slot instead, with aborted ones that its receipts prove. What it
 * offers holds in every other way; beside that it tells the truth.
 */
import type { Message } from "../../core/Message.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { SnapshotItem } from "../../core/protocol/Snapshot.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { Lie, Traitor } from "./Traitor.ts";

type Offer = MessageOf<"SnapshotOffer">;

const parts = ["one change", "all changes of one", "nothing", "nothing, and goes on without end"] as const;
type Part = (typeof parts)[number];

/** Slots of a page, where nothing else is said. */
const OFFERED_SLOTS = 16;

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
    const part = this.#traitor.next().named("of its registry", "nothing", parts, [4, 4, 1, 4]);
    const pass = { part, at };
    this.#passes.set(to, pass);
    return pass;
  }

  /** What is missing in a pass: proposals of its registry. */
  #missing({ part, at }: Pass): ReadonlySet<string> {
    const all = applied(this.#traitor, "");
    const one = all[all.length - 1 - (at % Math.max(1, all.length))];
    if (part === "nothing" || part === "nothing, and goes on without end" || one?.certificate === undefined)
      return new Set();
    if (part === "one change") return new Set([one.proposalId]);
    const { product } = this.#traitor.world;
    const { ref } = product.changeOf(one.certificate.proposal);
    return new Set(
      all
        .filter(({ certificate }) => certificate !== undefined && product.changeOf(certificate.proposal).ref === ref)
        .map(({ proposalId }) => proposalId),
    );
  }

  /** A last page, and behind it slots that were used for proposals which nobody has seen. */
  #goesOn(offer: Offer): Offer {
    const { world, peer } = this.#traitor;
    const like = applied(this.#traitor, "").at(-1)?.certificate?.proposal;
    if (like === undefined || like.writer !== peer.peerId) return offer;
    const { epoch, requestId } = like;
    const last = offer.items.at(-1)?.key ?? offer.after;
    const first = last === "" ? like.seq : 1 + Number(last.slice(last.indexOf(".") + 1));
    const room = (world.ghost.capacities.offeredSlots ?? OFFERED_SLOTS) - offer.items.length;
    const more = Array.from({ length: room }, (_, at): ReadonlyArray<SnapshotItem> => {
      const proposal = { ...like, seq: first + at, requestId: `${requestId}-${first + at}` };
      const writerReceipt = this.#traitor.vouch(proposal);
      const key = slotKey(epoch, proposal.seq);
      return writerReceipt === undefined
        ? []
        : [{ key, proposalId: this.#traitor.idOf(proposal), certificate: undefined, writerReceipt }];
    }).flat();
    world.marks.add("a source went on behind its last slot");
    return { ...offer, items: [...offer.items, ...more], upTo: more.at(-1)?.key };
  }

  offers(to: PeerId, offer: Offer): Offer {
    const pass = this.#passOf(to, offer.after);
    if (pass.part === "nothing, and goes on without end" && offer.upTo === undefined) return this.#goesOn(offer);
    const missing = this.#missing(pass);
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
