/**
 * The source of a promotion lies: it offers some targets one draft and some another, decides with signatures of its own,
 * decides a draft that its driver never pinned, calls a promotion done before it is, and shows some targets a registry
 * in which an approver is missing. Beside that it has a loose tongue.
 */
import type { Digest, Signature } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { PromotionMessageOf } from "../../core/protocol/PromotionMessages.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { RowView } from "../../core/Tables.ts";
import { looseTongue } from "./LooseTongue.ts";
import type { Lie, Mishear, Traitor } from "./Traitor.ts";
import { draftTopology, signedByLiar, transferOf, twinOf } from "./Twins.ts";

type DraftTold = PromotionMessageOf<"Promotion.Draft">;

const treatments = ["the draft", "its twin", "both"] as const;
type Treatment = (typeof treatments)[number];

/** A registry without one of its approvers, as it is shown to those who are not to have that one. */
interface Shortened {
  readonly ref: string;
  readonly registryRoot: Digest;
  readonly approvers: number;
}

const APPROVERS = "approvers";

const shortened = ({ world, peer }: Traitor): Shortened | undefined => {
  const last = peer.store.scan(APPROVERS, "", 1)[0];
  if (last === undefined) return undefined;
  const view: RowView = {
    get: (table, key) => peer.store.get(table, key),
    scan: (table, after, limit) =>
      peer.store.scan(table, after, limit).filter(({ key }) => table !== APPROVERS || key !== last.key),
  };
  const { set, count } = world.product.contentsOf(world.cryptography.crypto, view);
  return { ref: last.key, registryRoot: world.cryptography.crypto.setDigest(set), approvers: count };
};

class Source {
  readonly #traitor: Traitor;
  readonly #treated = new Map<PeerId, Treatment>();
  /** By target: what it is shown in place of the registry; false where that is true. */
  readonly #shown = new Map<PeerId, Shortened | false>();
  readonly #twins = new Map<Digest, DraftTold>();
  /** Twins by their transfer ids, with the signatures of targets. */
  readonly #accepted = new Map<Digest, { readonly told: DraftTold; readonly signatures: Map<PeerId, Signature> }>();
  readonly #isHasty: boolean;
  readonly #decidesAlone: boolean;

  constructor(traitor: Traitor) {
    this.#traitor = traitor;
    const unit = traitor.next();
    this.#isHasty = unit.chance("is done before all are installed", 300);
    this.#decidesAlone = unit.chance("decides with signatures of its own", 300);
  }

  #mark(what: string): void {
    this.#traitor.world.marks.add(`a lying source: ${what}`);
  }

  #twinFor(told: DraftTold): DraftTold {
    const transferId = transferOf(this.#traitor, told.draft);
    const known = this.#twins.get(transferId);
    if (known !== undefined) return known;
    const twin = { ...told, draft: twinOf(this.#traitor, told.draft) };
    this.#twins.set(transferId, twin);
    this.#accepted.set(transferOf(this.#traitor, twin.draft), { told: twin, signatures: new Map() });
    return twin;
  }

  #offers(to: PeerId, told: DraftTold): ReadonlyArray<Message> {
    const unit = this.#traitor.next();
    const treatment = this.#treated.get(to) ?? unit.named("offers", "the draft", treatments, [5, 3, 2]);
    this.#treated.set(to, treatment);
    if (treatment === "the draft") return [told];
    this.#mark("another draft");
    const twin = this.#twinFor(told);
    if (treatment === "its twin") return [twin];
    return unit.chance("the twin comes first", 500) ? [twin, told] : [told, twin];
  }

  #isShown(to: PeerId): Shortened | undefined {
    const known = this.#shown.get(to);
    if (known !== undefined) return known === false ? undefined : known;
    const isLie = this.#traitor.next().chance("shows another registry", 400);
    const shown = (isLie && shortened(this.#traitor)) || false;
    this.#shown.set(to, shown);
    return shown === false ? undefined : shown;
  }

  /** What a target is told of the registry, which it takes before anybody changes it again. */
  #ofRegistry(to: PeerId, message: MessageOf<"Ready"> | MessageOf<"SnapshotOffer">): Message {
    const { product, ghost } = this.#traitor.world;
    if (this.#traitor.peer.state?.cluster.promotion.own?.stage !== "DECIDED" || !ghost.isRecovering(to)) return message;
    const shown = this.#isShown(to);
    if (shown === undefined) return message;
    this.#mark("another registry");
    const { ref, registryRoot, approvers } = shown;
    if (message._tag === "Ready")
      return message.mode === "promoting" ? { ...message, mode: "active", registryRoot, approvers } : message;
    return {
      ...message,
      cutoff: { ...message.cutoff, root: registryRoot, count: approvers },
      items: message.items.filter(
        ({ certificate }) => certificate === undefined || product.changeOf(certificate.proposal).ref !== ref,
      ),
    };
  }

  says(to: PeerId, message: Message): ReadonlyArray<Message> {
    if (message._tag === "Promotion.Draft") return this.#offers(to, message);
    if (message._tag === "Ready" || message._tag === "SnapshotOffer") return [this.#ofRegistry(to, message)];
    return [message];
  }

  hears(from: PeerId, message: Message): Message {
    if (message._tag === "Promotion.Accepted") this.#accept(from, message);
    return this.#hastened(from, message) ?? message;
  }

  #accept(from: PeerId, { transferId, signature }: PromotionMessageOf<"Promotion.Accepted">): void {
    const twin = this.#accepted.get(transferId);
    if (twin === undefined) return this.#decideAlone(from, transferId, signature);
    twin.signatures.set(from, signature);
    const { source, members } = twin.told.draft;
    if (members.some(({ peerId }) => peerId !== source && !twin.signatures.has(peerId))) return;
    this.#mark("decided what its driver had not pinned");
    this.#decide(twin.told, (peerId) => twin.signatures.get(peerId), this.#traitor.others);
  }

  #decideAlone(from: PeerId, transferId: Digest, signature: Signature): void {
    const { peer } = this.#traitor;
    const row = peer.store.get("promotion", SELF);
    const previous = peer.state?.cluster.pinned;
    if (!this.#decidesAlone || row?.stage !== "PINNED" || previous === undefined) return;
    if (transferOf(this.#traitor, row.draft) !== transferId) return;
    this.#mark("decided alone");
    const told = {
      _tag: "Promotion.Draft",
      identityKey: peer.keys.identity.publicKey,
      previous,
      draft: row.draft,
    } as const;
    this.#decide(told, (peerId) => (peerId === from ? signature : undefined), [from]);
  }

  #decide(
    { identityKey, draft, previous }: DraftTold,
    signatureOf: (peerId: PeerId) => Signature | undefined,
    to: ReadonlyArray<PeerId>,
  ): void {
    const { world, peer } = this.#traitor;
    const pinned = signedByLiar(this.#traitor, draftTopology(this.#traitor, draft), signatureOf);
    for (const each of to)
      world.mail.utter(peer, each, { _tag: "Promotion.Decided", identityKey, draft, previous, pinned });
  }

  /** Its driver hears that a target is installed in whatever that says. */
  #hastened(from: PeerId, message: Message): Message | undefined {
    const { own, installed } = this.#traitor.peer.state?.cluster.promotion ?? {};
    if (!this.#isHasty || own?.stage !== "DECIDED" || installed?.has(from) === true) return undefined;
    const { identityKey } = own.draft.members.find(({ peerId }) => peerId === from) ?? {};
    if (identityKey === undefined || message._tag === "Promotion.Installed") return undefined;
    this.#mark("claimed an end");
    return { _tag: "Promotion.Installed", identityKey, transferId: own.transferId };
  }
}

export const lyingSource = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  const tongue = looseTongue();
  let source: Source | undefined;
  return {
    lie: (traitor, to, message) => {
      source ??= new Source(traitor);
      return source.says(to, message).flatMap((each) => tongue.lie(traitor, to, each));
    },
    mishear: (traitor, from, message) => {
      source ??= new Source(traitor);
      return tongue.mishear(traitor, from, source.hears(from, message));
    },
  };
};
