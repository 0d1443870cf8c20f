/**
 * A liar that says of others what only their keys could show: of the writer that it has signed a slot that it knows
 * nothing of, of any member that it was restored since, and, in the writer's name, that a request was refused. Several
 * fields of one message have to lie together for that, and the signature is the liar's own.
 */
import type { Signature } from "../../core/base/Digest.ts";
import { rejection } from "../../core/base/Rejection.ts";
import type { Message } from "../../core/Message.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { SignedRestoration } from "../../core/protocol/Restoration.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Stream } from "../base/Choices.ts";
import type { Traitor } from "./Traitor.ts";

/** How far above what it knows of. */
const MOST_SLOTS = 3;

/** Of no signature yet. */
const UNSIGNED = "" as Signature;

export class Slander {
  readonly #traitor: Traitor;
  readonly #stream: Stream;
  readonly #isAtIt: boolean;
  readonly #ofRestores: Stream;
  readonly #tellsOfRestores: boolean;
  readonly #ofRequests: Stream;
  readonly #tellsOfRequests: boolean;

  /** Some do; the draws of each lie are its own, so that all other lies stay what they are. */
  constructor(traitor: Traitor) {
    this.#traitor = traitor;
    this.#stream = traitor.world.choices.stream(`slander ${traitor.peer.slot}`);
    this.#isAtIt = this.#stream.next().chance("slanders", 700);
    this.#ofRestores = traitor.world.choices.stream(`rumours of ${traitor.peer.slot}`);
    this.#tellsOfRestores = this.#ofRestores.next().chance("tells members of restores of theirs", 700);
    this.#ofRequests = traitor.world.choices.stream(`refusals by ${traitor.peer.slot}`);
    this.#tellsOfRequests = this.#ofRequests.next().chance("speaks for the writer", 700);
  }

  /** What it says in the place of a message to this peer. */
  says(to: PeerId, message: Message): Message {
    return this.#restored(to, this.#forgotten(to, message));
  }

  #forgotten(to: PeerId, message: Message): Message {
    if (!this.#isAtIt || message._tag !== "Ready") return message;
    const { membership } = this.#traitor.peer.state?.cluster ?? {};
    const { highSeqProof: proof } = message;
    if (to !== membership?.writer || proof === undefined) return message;
    const unit = this.#stream.next();
    if (!unit.chance("says of the writer that it forgot a slot", 250)) return message;
    const seq = message.highSeq + unit.between("slots above", 1, 1, MOST_SLOTS);
    // In the writer's name, or as a receipt of its own, which is authentic.
    const peerId = unit.chance("by a receipt of its own", 400) ? this.#traitor.peer.peerId : proof.header.peerId;
    const highSeqProof = this.#traitor.signAnew(proof, {
      ...proof,
      statement: { ...proof.statement, seq },
      header: { ...proof.header, peerId },
    });
    this.#traitor.world.marks.add("a member said that the writer had forgotten a slot");
    return { ...message, highSeq: seq, highSeqProof };
  }

  /** A later incarnation of whoever is asked or answered, as if it had announced one. */
  #restored(to: PeerId, message: Message): Message {
    const { world, peer } = this.#traitor;
    const { membership } = peer.state?.cluster ?? {};
    if (!this.#tellsOfRestores || membership === undefined) return message;
    if (message._tag !== "Ready" && message._tag !== "ReadyProbe") return message;
    const unit = this.#ofRestores.next();
    if (!unit.chance("says that the other was restored", 100)) return message;
    const known = peer.state?.signed.seen.get(to)?.incarnation ?? 0;
    const restoration = {
      version: world.product.composition.versions.highest,
      topologyDigest: membership.digest,
      peerId: to,
      incarnation: known + unit.between("incarnations above", 1, 1, MOST_SLOTS),
      // Any that the other did not draw itself.
      recoveryId: membership.digest,
    };
    const recorded: SignedRestoration = this.#traitor.announce({ restoration, signature: UNSIGNED });
    world.marks.add("a member was told of a restore that it had not announced");
    return { ...message, recorded };
  }

  /** Whoever is asked for its vote knows which requests wait, and where. */
  hears(message: Message): void {
    const { peer } = this.#traitor;
    if (!this.#tellsOfRequests || message._tag !== "Prepare") return;
    if (peer.peerId === peer.state?.cluster.membership?.writer) return;
    for (const item of message.items) this.#refuse(item);
  }

  #refuse({ evidence: { entryPeer, requestId } }: PrepareItem): void {
    const { world, peer } = this.#traitor;
    const unit = this.#ofRequests.next();
    if (!this.#traitor.others.includes(entryPeer) || !unit.chance("refuses it for the writer", 300)) return;
    const outcomeUnknown = unit.chance("and calls it open", 500);
    const said = rejection("ACCESS_DENIED", "Nothing was done.", "Believe it.", { outcomeUnknown });
    world.marks.add("a member spoke for the writer");
    world.mail.utter(peer, entryPeer, { _tag: "Outcome", requestId, outcome: { _tag: "Rejected", rejection: said } });
  }
}
