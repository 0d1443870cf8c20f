/**
 * A liar that says of the writer what only the writer's key could show: that it has signed a slot that it knows nothing
 * of. Two fields of one message have to lie together for that, and the signature is the liar's own.
 */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Stream } from "../base/Choices.ts";
import type { Traitor } from "./Traitor.ts";

/** How far above what it knows of. */
const MOST_SLOTS = 3;

export class Slander {
  readonly #traitor: Traitor;
  readonly #stream: Stream;
  readonly #isAtIt: boolean;

  /** Some do; their draws are their own, so that all other lies stay what they are. */
  constructor(traitor: Traitor) {
    this.#traitor = traitor;
    this.#stream = traitor.world.choices.stream(`slander ${traitor.peer.slot}`);
    this.#isAtIt = this.#stream.next().chance("slanders", 700);
  }

  /** What it says in the place of a message to this peer. */
  says(to: PeerId, message: Message): Message {
    if (!this.#isAtIt || message._tag !== "Ready") return message;
    const { membership } = this.#traitor.peer.state?.cluster ?? {};
    const { highSeqProof: proof } = message;
    if (to !== membership?.writer || proof === undefined) return message;
    const unit = this.#stream.next();
    if (!unit.chance("says of the writer that it forgot a slot", 250)) return message;
    const seq = message.highSeq + unit.between("slots above", 1, 1, MOST_SLOTS);
    const highSeqProof = this.#traitor.signAnew(proof, { ...proof, statement: { ...proof.statement, seq } });
    this.#traitor.world.marks.add("a member said that the writer had forgotten a slot");
    return { ...message, highSeq: seq, highSeqProof };
  }
}
