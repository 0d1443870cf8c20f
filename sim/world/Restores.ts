/** Machines that get an older disk, and operators who declare it, at once or when it has shown. */
import { type Write } from "../../core/Tables.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { Topology } from "../../core/protocol/Topology.ts";
import type { Unit } from "../base/Choices.ts";
import { type Ghost, maskOf } from "../checkers/Ghost.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Witness } from "../oracle/Witness.ts";
import type { Ground } from "./Ground.ts";
import type { Operators } from "./Operators.ts";
import type { Processes } from "./Processes.ts";

interface Ports {
  readonly processes: Processes;
  readonly operators: Operators;
  readonly ghost: Ghost;
  readonly witness: Witness;
}

/** A peer is initialized, unsealed, and votes. */
const EARLY_DISKS = 3;

export class Restores {
  readonly #ground: Ground;
  readonly #ports: Ports;
  /** By slot: disks as they were before that peer knew its cluster, each to be put back. */
  readonly #early = new Map<number, Array<() => void>>();

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
  }

  /** A peer's machine gets an older disk; an operator who knows says so before the keys are back. */
  comeBackOn(peer: SimPeer, putBack: () => void, isDeclared: boolean): void {
    const { processes, ghost } = this.#ports;
    processes.crash(peer, "power", false);
    putBack();
    peer.honest = false;
    peer.rolledBack = true;
    peer.toDeclare = isDeclared;
    ghost.away |= maskOf(peer.slot);
    ghost.recovering &= ~maskOf(peer.slot);
    if (!isDeclared) {
      ghost.forgetful |= maskOf(peer.slot);
      ghost.wentBack(peer.slot, peer.disk.holds);
    }
    processes.start(peer);
  }

  /**
   * A machine gets another disk where nobody is a witness of what was on its last one: an instance that is alone an
   * older disk that lacks nothing of its registry, a target that belongs to nothing yet an empty one. From now on what is
   * on that disk is all there is.
   */
  comeBackAlone(peer: SimPeer, putBack: () => void): void {
    const { processes, ghost } = this.#ports;
    processes.crash(peer, "power", false);
    putBack();
    ghost.forgetful |= maskOf(peer.slot);
    ghost.wentBack(peer.slot, peer.disk.holds);
    processes.start(peer);
  }

  /** Puts back the disk of a backup that was made before the founding; undefined where this peer has none. */
  earlyDisk({ slot }: SimPeer, unit: Unit): (() => void) | undefined {
    const disks = this.#early.get(slot) ?? [];
    return disks[unit.between(`early disk of peer ${slot}`, 0, 0, Math.max(0, disks.length - 1), 0, EARLY_DISKS - 1)];
  }

  #keepEarly(peer: SimPeer): void {
    if (!peer.honest || peer.isDamaged) return;
    if (peer.disk.holds("topology", SELF)) {
      peer.wasFounded = true;
      return;
    }
    const disks = this.#early.get(peer.slot) ?? [];
    if (disks.length < EARLY_DISKS) this.#early.set(peer.slot, [...disks, peer.disk.photograph()]);
  }

  /** An operator declares what a peer has found out itself: that it ran from an old disk. */
  declare(peer: SimPeer): void {
    peer.toDeclare = true;
    if (!peer.isUp) return;
    this.started(peer);
    this.#ground.settle(peer);
  }

  /** A process has come up: it is told of its old disk where an operator knows. */
  started(peer: SimPeer): void {
    if (!peer.toDeclare) return;
    const { chronicle } = this.#ground;
    chronicle.note("declare a restore", peer.slot, "");
    this.#ports.operators.declareRestore(peer);
  }

  /**
   * A machine that came back empty founds its cluster with the keys made on it: nobody has counted on what it had before,
   * so from now on it is a member like any other. In the place of one that was known it pins nothing.
   */
  #founded(peer: SimPeer, { members, prevDigest }: Topology): void {
    const { peerId, keys, rolledBack, isLying } = peer;
    // Whoever came back on an older disk, or enters a later epoch, has a restore to end first.
    if (rolledBack || isLying || prevDigest !== undefined) return;
    if (members.some((each) => each.peerId === peerId && each.identityKey === keys.identity.publicKey))
      peer.honest = true;
  }

  /** Notes what a transaction that has become durable says of a restore: that it has begun, or is over. */
  flushed(peer: SimPeer, writes: ReadonlyArray<Write>): void {
    if (!peer.wasFounded) this.#keepEarly(peer);
    for (const write of writes) {
      if (write.table === "topology" && write.op === "insert") this.#founded(peer, write.row.topology);
      if (write.table !== "restore" || write.op === "remove") continue;
      const { chronicle } = this.#ground;
      const { witness, ghost } = this.#ports;
      chronicle.marks.add(write.row.recovering ? "a restore was declared" : "a restored peer is a member again");
      if (write.row.recovering) {
        peer.toDeclare = false;
        witness.restored(peer.slot);
      } else if (ghost.away === ghost.everyone) {
        chronicle.marks.add("every member was restored at once");
        witness.united((ref) => ghost.product.revisionIn(peer.disk, ref));
      }
      peer.honest = !write.row.recovering && !peer.isLying;
      if (peer.honest) peer.rolledBack = false;
    }
  }
}
