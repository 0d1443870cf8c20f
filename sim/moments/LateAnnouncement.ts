/**
 * A member is restored, and nobody hears its announcement; then its disk goes back to before that, and it says nothing
 * of it. When all have shown it what they know of it, one of them hears the announcement after all: to that one its
 * incarnation is over, and it does not know.
 */
import type { Choices, Unit } from "../base/Choices.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { isWriter, SECOND, struck } from "./Moment.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { mayForget } from "../faults/DeclaredRestore.ts";
import { takesPart } from "../faults/Victims.ts";

class Story {
  readonly #world: World;
  readonly #unit: Unit;
  readonly #peer: SimPeer;
  readonly #hearer: PeerId;
  readonly #putBack: () => void;
  #announced: Message | undefined;

  constructor(world: World, unit: Unit, peer: SimPeer, hearer: PeerId) {
    this.#world = world;
    this.#unit = unit;
    this.#peer = peer;
    this.#hearer = hearer;
    this.#putBack = peer.disk.photograph();
  }

  begin(): void {
    const { mail, restores } = this.#world;
    mail.speakThrough(this.#peer, {
      says: (to, message) => {
        if (to === this.#hearer) this.#keep(message);
        return [];
      },
      hears: (_from, message) => message,
    });
    restores.comeBackOn(this.#peer, this.#putBack, true);
  }

  #keep(message: Message): void {
    if (this.#announced !== undefined || message._tag !== "ReadyProbe" || message.restored === undefined) return;
    this.#announced = message;
    this.#soon("its disk goes back after", 100_000, () => {
      this.#world.mail.speakThrough(this.#peer, undefined);
      this.#world.restores.comeBackOn(this.#peer, this.#putBack, false);
      this.#soon("it is heard after", 2 * SECOND, () => this.#tell(message), 2 * SECOND);
    });
  }

  #tell(message: Message): void {
    if (!this.#peer.isUp || this.#peer.state?.fitness.quarantine !== undefined) return;
    this.#world.marks.add("an announcement was heard when its disk had gone back");
    this.#loseAnswer();
    this.#world.mail.utter(this.#peer, this.#hearer, message);
  }

  /** It would be told by that, which goes to where the announcement came from. */
  #loseAnswer(): void {
    const { mail } = this.#world;
    mail.speakThrough(this.#peer, {
      says: (_to, message) => [message],
      hears: (from, message) => {
        if (from !== this.#hearer || message._tag !== "Ready") return message;
        mail.speakThrough(this.#peer, undefined);
        return undefined;
      },
    });
  }

  #soon(label: string, mostMicros: number, run: () => void, quiet = 1_000): void {
    this.#world.after(this.#unit.between(label, quiet, 1, mostMicros), () => {
      if (!this.#world.healed && !this.#peer.isDamaged && mayForget(this.#world, this.#peer)) run();
    });
  }
}

/** The story happens once, at some flush of a member when everybody has joined. The writer would not be late to hear. */
export const lateAnnouncement = (choices: Choices): Nemesis => {
  const atFlush = choices.plan("announced late").between("at flush", 10, 10, 80);
  let story: Story | undefined;
  let count = 0;
  return {
    flushed: (world, peer) => {
      if (story !== undefined || ++count < atFlush || isWriter(peer) || !world.peers.every(takesPart)) return;
      const hearers = world.peers.filter((each) => each !== peer && !isWriter(each));
      const unit = struck(world, world.choices.stream("moment").next(), "announced late");
      const hearer = unit && hearers[unit.between("who hears of it", 0, 0, hearers.length - 1)];
      if (unit === undefined || hearer === undefined) return;
      story = new Story(world, unit, peer, hearer.peerId);
      world.after(1, () => story?.begin());
    },
  };
};
