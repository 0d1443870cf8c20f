/**
 * A liar that tells some members, and not the others, that an incarnation of it is over. Afterwards it votes in the new
 * one or in the old one, whoever hears it.
 */
import type { Signature } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import { restorationHash, type SignedRestoration } from "../../core/protocol/Restoration.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Unit } from "../base/Choices.ts";
import type { Traitor } from "./Traitor.ts";

/** Messages that it says before its new incarnation begins, at most. */
const LATEST = 120;

/** Of no signature yet. */
const UNSIGNED = "" as Signature;

export class DoubleLife {
  readonly #traitor: Traitor;
  readonly #told: ReadonlySet<PeerId>;
  #left: number;
  #restored: SignedRestoration | undefined;
  #batchNo = 0;

  private constructor(traitor: Traitor, unit: Unit) {
    this.#traitor = traitor;
    this.#told = new Set(traitor.others.filter((peerId) => unit.chance(`tells peer ${peerId}`, 500)));
    this.#left = unit.between("after so many messages", 40, 0, LATEST);
  }

  /** Some lead one life. */
  static begin(traitor: Traitor): DoubleLife | undefined {
    const unit = traitor.next();
    return unit.chance("leads two lives", 300) ? new DoubleLife(traitor, unit) : undefined;
  }

  #announced(): SignedRestoration | undefined {
    const { state, peerId } = this.#traitor.peer;
    const { world } = this.#traitor;
    if (this.#left-- > 0 || state?.cluster.membership === undefined) return undefined;
    const restoration = {
      version: world.product.composition.versions.highest,
      topologyDigest: state.cluster.membership.digest,
      peerId,
      incarnation: state.signed.chain.incarnation + 1,
      recoveryId: world.entropy.digest(),
    };
    world.marks.add("an incarnation that some had heard was over");
    return this.#traitor.announce({ restoration, signature: UNSIGNED });
  }

  /** What it says in the place of a message. */
  says(unit: Unit, to: PeerId, message: Message): Message {
    this.#restored ??= this.#announced();
    const restored = this.#restored;
    if (restored === undefined) return message;
    if (message._tag === "ReadyProbe") return this.#told.has(to) ? { ...message, restored } : message;
    if (message._tag === "Ready")
      return this.#told.has(to)
        ? { ...message, restored, incarnation: restored.restoration.incarnation, batchNo: this.#batchNo }
        : message;
    if (message._tag !== "Votes" && message._tag !== "CommitAcks") return message;
    const isTold = this.#told.has(to);
    if (!unit.chance(isTold ? "in the new incarnation" : "in the incarnation it has not heard of", isTold ? 600 : 200))
      return message;
    return { ...message, statements: message.statements.map((each) => this.#again(each, restored)) };
  }

  /** A vote of its own, in the new incarnation. */
  #again(signed: SignedStatement, { restoration }: SignedRestoration): SignedStatement {
    const { crypto } = this.#traitor.world.cryptography;
    if (signed.header.peerId !== this.#traitor.peer.peerId) return signed;
    this.#batchNo += 1;
    const { incarnation } = restoration;
    const header = {
      ...signed.header,
      incarnation,
      batchNo: this.#batchNo,
      prevBatchHash: restorationHash(crypto, restoration),
    };
    return this.#traitor.signAnew(signed, { ...signed, header });
  }

  /** What its driver may hear: nothing of the incarnation that it knows nothing of. */
  hears(message: Message): Message {
    if (message._tag !== "Ready" && message._tag !== "ReadyProbe") return message;
    const recoveryId = this.#restored?.restoration.recoveryId;
    return recoveryId !== undefined && message.recorded?.restoration.recoveryId === recoveryId
      ? { ...message, recorded: undefined, seen: undefined }
      : message;
  }
}
