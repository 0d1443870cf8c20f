/**
 * A change that has ended, and a disk on which it is done (decision 0015). Only the writer applies it; it is restored
 * without it before any other member hears of it, and all abort it. Then it comes back on the disk on which it had applied
 * it, and either all others are restored too, or it has to take that back.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { takesPart } from "./Victims.ts";

class Story {
  readonly #world: World;
  readonly #unit: Unit;
  readonly #id: Digest;
  readonly #writer: SimPeer;
  /** The writer's disk on which the change is only prepared; then the one on which it is done. */
  readonly #before: () => void;
  #after: (() => void) | undefined;
  readonly #ended = new Set<number>();

  constructor(world: World, unit: Unit, id: Digest, writer: SimPeer) {
    this.#world = world;
    this.#unit = unit;
    this.#id = id;
    this.#writer = writer;
    this.#before = writer.disk.photograph();
  }

  begin(): void {
    for (const peer of this.#world.peers)
      this.#world.mail.speakThrough(peer, {
        says: (to, message) => (this.#isLost(peer, to, message) ? [] : [message]),
        hears: (_from, message) => message,
      });
  }

  /** Takes note of what a peer has made durable. */
  flushed(peer: SimPeer, write: Write): void {
    if (write.op === "remove") return;
    if (
      peer === this.#writer &&
      write.table === "certificates" &&
      write.key === this.#id &&
      this.#after === undefined
    ) {
      this.#after = peer.disk.photograph();
      this.#soon("the writer is restored after", 200_000, () => this.#comeBackOn(this.#before));
    }
    const isEnd = write.table === "slots" && write.row.proposalId === this.#id && write.row.outcome === "ABORTED";
    if (!isEnd || this.#after === undefined || this.#ended.has(peer.slot)) return;
    this.#ended.add(peer.slot);
    // At once: nothing else has taken its place yet.
    if (this.#ended.size === this.#world.plan.peers)
      this.#soon("all are restored after", 2_000, () => this.#restoreAll());
  }

  /** Only the writer finds out that all had voted for it. */
  #isLost(from: SimPeer, to: PeerId, message: Message): boolean {
    if (this.#ended.size > 0) return false;
    if (message._tag === "Commit") return from === this.#writer;
    return message._tag === "SettleAnswer" && from !== this.#writer && to !== this.#writer.peerId;
  }

  #soon(label: string, mostMicros: number, run: () => void): void {
    this.#world.after(this.#unit.between(label, 1_000, 1, mostMicros), () => {
      if (!this.#world.healed) run();
    });
  }

  #comeBackOn(disk: () => void): void {
    if (this.#writer.isDamaged) return;
    this.#world.faults.add("declared restore");
    this.#world.restores.comeBackOn(this.#writer, disk, true);
  }

  #restoreAll(): void {
    if (this.#after === undefined) return;
    if (this.#unit.chance("the writer alone", 400)) return this.#comeBackOn(this.#after);
    this.#world.marks.add("all were restored beside a disk on which something is done that has ended");
    this.#comeBackOn(this.#after);
    for (const peer of this.#world.peers)
      if (peer !== this.#writer && peer.isUp && !peer.isDamaged) this.#world.restores.declare(peer);
  }
}

/** The story happens once, to a proposal that the writer makes when everybody has joined. */
export const endedAndKept = (): Nemesis => {
  let story: Story | undefined;
  return {
    flushed: (world, peer, writes) => {
      if (story !== undefined) return void writes.forEach((write) => story?.flushed(peer, write));
      const prepared = writes.find((write) => write.table === "preparations" && write.op === "insert");
      if (prepared === undefined || peer.slot !== world.writerSlot || !world.peers.every(takesPart)) return;
      const unit = world.choices.stream("moment").next();
      if (!unit.chance("strikes", 300)) return;
      story = new Story(world, unit, prepared.key as Digest, peer);
      story.begin();
    },
  };
};
