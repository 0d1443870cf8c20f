/**
 * A change that has ended, and a disk on which it is done (decision 0015). Only the writer applies it; it is restored
 * without it before any other member hears of it, and all abort it. Then it comes back on the disk on which it had applied
 * it, and either all others are restored too, or it has to take that back. Where it made a generation of a key, another
 * one of that number is made first: then its share is of neither.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import { generationIn } from "../models/keys/KeyEffects.ts";
import { ask } from "./KeysInUse.ts";
import { renewal } from "../requests/KeyRequests.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { takesPart } from "../faults/Victims.ts";

type Generation = Rows["generations"];

/** Until a generation is made anew it is asked for so often, in microseconds. */
const ASKED_AGAIN = 400_000;

/** The generation that a preparation is of, beside one before it. */
const renewedBy = (write: Write): Generation | undefined => {
  if (write.table !== "preparations" || write.op === "remove" || write.row.proposal.kind !== "KEYGEN") return undefined;
  const made = generationIn(write.row.proposal);
  return made !== undefined && made.generation > 1 ? made : undefined;
};

class Story {
  readonly #world: World;
  readonly #unit: Unit;
  readonly #id: Digest;
  readonly #writer: SimPeer;
  /** What the change made, where that is to be made anew. */
  readonly #generation: Generation | undefined;
  #isAnew = false;
  /** The writer's disk on which the change is only prepared; then the one on which it is done. */
  readonly #before: () => void;
  #after: (() => void) | undefined;
  readonly #ended = new Set<number>();

  constructor(world: World, unit: Unit, id: Digest, writer: SimPeer, generation: Generation | undefined) {
    this.#generation = generation;
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
    if (write.table === "generations" && this.#ended.size > 0) this.#noteMade(peer, write.row);
    const isEnd = write.table === "slots" && write.row.proposalId === this.#id && write.row.outcome === "ABORTED";
    if (!isEnd || this.#after === undefined || this.#ended.has(peer.slot)) return;
    this.#ended.add(peer.slot);
    // At once: nothing else has taken its place yet.
    if (this.#ended.size === this.#world.plan.peers)
      this.#soon("all are restored after", 2_000, () =>
        this.#generation === undefined ? this.#restoreAll() : this.#haveMadeAnew(this.#generation),
      );
  }

  /** Asks for another generation of that number until there is one. */
  #haveMadeAnew(generation: Generation): void {
    const { keyId, generation: number } = generation;
    if (this.#isAnew || this.#world.healed) return;
    const through = this.#world.peer(this.#unit.between("made anew through", 1, 1, this.#world.plan.peers));
    ask(
      this.#world,
      through,
      renewal(this.#world.commands, "rotate", { keyId, base: number - 1, assetOwner: undefined }),
    );
    this.#world.after(ASKED_AGAIN, () => this.#haveMadeAnew(generation));
  }

  #noteMade(peer: SimPeer, { keyId, generation, transcript }: Generation): void {
    const before = this.#generation;
    if (this.#isAnew || before === undefined || peer !== this.#writer || before.transcript === transcript) return;
    if (before.keyId !== keyId || before.generation !== generation) return;
    this.#isAnew = true;
    this.#soon("the writer comes back after", 200_000, () => {
      if (this.#after === undefined) return;
      this.#world.marks.add("restored beside another generation of a number");
      this.#comeBackOn(this.#after);
    });
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

/**
 * The story happens once, to a proposal that the writer makes when everybody has joined.
 *
 * @param isOfKeys to one that renews a key
 */
export const endedAndKept = (isOfKeys = false): Nemesis => {
  let story: Story | undefined;
  return {
    flushed: (world, peer, writes) => {
      if (story !== undefined) return void writes.forEach((write) => story?.flushed(peer, write));
      const prepared = writes.find((write) => write.table === "preparations" && write.op === "insert");
      if (prepared === undefined || peer.slot !== world.writerSlot || !world.peers.every(takesPart)) return;
      const generation = isOfKeys ? renewedBy(prepared) : undefined;
      if (isOfKeys && generation === undefined) return;
      const unit = world.choices.stream("moment").next();
      if (!unit.chance("strikes", 300)) return;
      story = new Story(world, unit, prepared.key as Digest, peer, generation);
      story.begin();
    },
  };
};
