/**
 * Restores around one receipt that comes late (decision 0015). A member prepares, its receipt stays
 * on the way to the writer, and it is restored. The others settle without the writer, which then gets the receipt,
 * holds all of them and applies. One of the others, *freed* from its pledge by that, applies too. Before anybody else
 * hears of it the writer is restored, while at least one member holds its pledge.
 *
 * With five members the freed one may be restored as well: not all have that on record, and its old acknowledgement
 * frees one more, which has heard nothing of the settlement.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { takesPart } from "./Victims.ts";

const SECOND = 1_000_000;

const settling: ReadonlySet<Message["_tag"]> = new Set(["Votes", "SettleAnswer", "AbortRequest", "CommitAcks"]);
const probing: ReadonlySet<Message["_tag"]> = new Set(["Ready", "ReadyProbe"]);

const hasReceipt = (message: Message, id: Digest): boolean =>
  message._tag === "Votes" &&
  message.statements.some(({ statement }) => statement.kind === "RECEIPT" && statement.proposalId === id);

const hasAck = (message: Message, id: Digest): boolean =>
  message._tag === "Commit" && message.acks.some(({ statement }) => statement.proposalId === id);

/** The members' parts in the story. */
interface Roles {
  readonly writer: SimPeer;
  /** Restored first; its receipt is late. */
  readonly first: SimPeer;
  /** The one that the writer can tell what it has applied. */
  readonly freed: SimPeer;
  /** Hears nothing until the old acknowledgement of the freed one reaches it; absent where that one is not restored. */
  readonly deaf: SimPeer | undefined;
}

class Story {
  readonly #world: World;
  readonly #unit: Unit;
  readonly #id: Digest;
  readonly #roles: Roles;
  readonly #pledged = new Set<number>();
  /** The receipt that comes late, until it is on its way. */
  #receipt: Message | undefined;
  /** The old acknowledgement of the one that was freed. */
  #word: Message | undefined;
  /** The writer has the late receipt. */
  #isLate = false;

  constructor(world: World, unit: Unit, id: Digest, roles: Roles) {
    this.#world = world;
    this.#unit = unit;
    this.#id = id;
    this.#roles = roles;
  }

  begin(): void {
    for (const peer of this.#world.peers)
      this.#world.mail.speakThrough(peer, {
        says: (to, message) => (this.#isLost(peer, to, message) ? [] : [message]),
        hears: (_from, message) => message,
      });
    this.#soon("the first is restored after", 400_000, () => this.#restore(this.#roles.first));
    this.#world.after(this.#unit.between("all is heard again after seconds", 20, 15, 30) * SECOND, () => {
      if (!this.#world.healed) for (const peer of this.#world.peers) this.#world.mail.speakThrough(peer, undefined);
    });
  }

  /** Takes note of what a peer has made durable. */
  flushed(peer: SimPeer, write: Write): void {
    if (write.key !== this.#id || write.op === "remove") return;
    if (write.table === "preparations" && write.row.pledge !== undefined) this.#notePledge(peer);
    const { freed, deaf, writer } = this.#roles;
    if (write.table === "certificates" && peer === freed && deaf === undefined)
      this.#soon("the writer is restored after", 200_000, () => this.#restore(writer));
  }

  #soon(label: string, mostMicros: number, run: () => void): void {
    this.#world.after(this.#unit.between(label, 1_000, 1, mostMicros), run);
  }

  /** Whether the network loses this message. */
  #isLost(from: SimPeer, to: PeerId, message: Message): boolean {
    const { writer, first, freed, deaf } = this.#roles;
    if (message._tag === "Commit") return this.#isCommitLost(from, to, message);
    if (this.#word !== undefined && to === deaf?.peerId && settling.has(message._tag)) return true;
    if (this.#word !== undefined && from === freed && to !== writer.peerId && to !== first.peerId)
      return probing.has(message._tag);
    if (this.#isLate || to !== writer.peerId || !settling.has(message._tag)) return false;
    if (from === first && hasReceipt(message, this.#id)) this.#receipt = message;
    return from === first || !hasReceipt(message, this.#id);
  }

  #isCommitLost(from: SimPeer, to: PeerId, message: Message): boolean {
    const { writer, freed, deaf } = this.#roles;
    if (from === writer) return to !== freed.peerId;
    if (from === freed && to === deaf?.peerId && this.#word === undefined && hasAck(message, this.#id))
      this.#keepWord(message);
    return true;
  }

  /** The writer and the one it has freed are restored; what that one said before arrives after others have settled. */
  #keepWord(message: Message): void {
    const { writer, freed, deaf } = this.#roles;
    this.#word = message;
    this.#soon("the freed one is restored after", 100_000, () => this.#restore(freed));
    this.#soon("the writer is restored after", 400_000, () => this.#restore(writer));
    this.#world.after(this.#unit.between("the old word comes after seconds", 6, 1, 8) * SECOND, () => {
      if (deaf !== undefined && freed.isUp && !this.#world.healed) this.#world.mail.utter(freed, deaf.peerId, message);
    });
  }

  /** When all that can have pledged, the late receipt arrives. */
  #notePledge(peer: SimPeer): void {
    const { writer, first } = this.#roles;
    const receipt = this.#receipt;
    this.#pledged.add(peer.slot);
    if (this.#pledged.size < this.#world.plan.peers - 2 || receipt === undefined) return;
    this.#receipt = undefined;
    this.#soon("the receipt comes after", 200_000, () => {
      if (!first.isUp || this.#world.healed) return;
      this.#world.mail.utter(first, writer.peerId, receipt);
      this.#world.after(10_000, () => {
        this.#isLate = true;
      });
    });
  }

  #restore(peer: SimPeer): void {
    if (this.#world.healed || !peer.isUp || peer.isDamaged) return;
    if (peer !== this.#roles.first) this.#world.marks.add("restored around a late receipt");
    this.#world.faults.add("declared restore");
    this.#world.restores.declare(peer);
  }
}

const rolesFor = (world: World, unit: Unit, first: SimPeer): Roles | undefined => {
  const writer = world.peer(world.writerSlot);
  const others = world.peers.filter((each) => each !== writer && each !== first);
  const at = unit.between("who is freed", 0, 0, others.length - 1);
  const freed = others[at];
  const isRestored = unit.chance("the freed one is restored", world.plan.peers < 5 ? 0 : 600);
  const deaf = isRestored ? others[(at + 1) % others.length] : undefined;
  return freed && { writer, first, freed, deaf };
};

/** The story happens once, to a proposal that a member prepares when everybody has joined. */
export const lateReceipt = (): Nemesis => {
  let story: Story | undefined;
  return {
    flushed: (world, peer, writes) => {
      if (story !== undefined) return void writes.forEach((write) => story?.flushed(peer, write));
      const prepared = writes.find((write) => write.table === "preparations" && write.op === "insert");
      if (prepared === undefined || peer.slot === world.writerSlot || !world.peers.every(takesPart)) return;
      const unit = world.choices.stream("moment").next();
      if (!unit.chance("strikes", 300)) return;
      const roles = rolesFor(world, unit, peer);
      if (roles === undefined) return;
      story = new Story(world, unit, prepared.key as Digest, roles);
      story.begin();
    },
  };
};
