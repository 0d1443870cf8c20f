/** The processes of all peers: when one starts, how it ends, and how long its peer stays down. */
import { InvariantViolation } from "../../core/base/Invariant.ts";
import { StoreFailure } from "../../runtime/ByteStore.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { Stream, Stretch, Unit } from "../base/Choices.ts";
import { indexedUpTo } from "./OlderVersion.ts";
import type { SimPeer } from "./SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import type { Ground } from "./Ground.ts";

export type CrashKind = "process" | "process, bytes visible" | "power" | "power, torn write";

/** How long a crashed peer stays down: mostly not long. */
const DOWN_MICROS: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [1_000, 20_000],
  [1_000, 200_000],
  [1_000, 500_000],
  [1_000, 8_000_000],
];
const LONGEST_DOWN_MICROS = 8_000_000;
const USUAL_DOWN_MICROS = 10_000;

/** Whether a part of the index that it lacked is on the disk, or on its way there. */
const isMakingIndex = ({ state, disk, underWay }: SimPeer): boolean => {
  const upTo = state && indexedUpTo(state);
  return upTo !== undefined && (upTo !== "" || (disk.flushing && underWay.some(({ table }) => table === "indexed")));
};

interface Ports {
  /** By slot; each unit is what is decided about one process. */
  readonly streams: ReadonlyArray<Stream>;
  /** A process has come up and has read its store. */
  readonly started: (peer: SimPeer) => void;
  /** A process has ended. */
  readonly ended: (peer: SimPeer) => void;
}

export class Processes {
  readonly #ground: Ground;
  readonly #ports: Ports;
  /** The unit of each peer's process, by slot: of the one that runs, or the one that comes next. */
  readonly #units: Array<Unit>;
  readonly #actionsLeft = new Map<number, { left: number; readonly kind: CrashKind }>();
  #openings = 0;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#units = ports.streams.map((stream) => stream.next());
  }

  /** The unit of this peer's process. */
  unitOf({ slot }: SimPeer): Unit {
    const unit = this.#units[slot];
    if (unit === undefined) throw new RangeError(`there is no peer ${slot}`);
    return unit;
  }

  /** Starts a peer's first process, soon. */
  startSoon(peer: SimPeer): void {
    this.#ground.scheduler.after(this.unitOf(peer).between("starts after", 0, 0, 50_000), () => this.start(peer));
  }

  /** Starts a peer's process, first making durable what the open finds. */
  start(peer: SimPeer): void {
    if (peer.isUp || peer.isLost) return;
    const { scheduler, chronicle } = this.#ground;
    const ticket = ++this.#openings;
    peer.opening = ticket;
    const wait = peer.disk.isVolatile ? this.unitOf(peer).between("opens in", 100, 100, 20_000) : 0;
    if (wait > 0) chronicle.marks.add("opened on bytes that were not durable");
    scheduler.after(wait, () => {
      if (peer.isUp || peer.opening !== ticket) return;
      this.#boot(peer);
    });
  }

  #boot(peer: SimPeer): void {
    const { chronicle } = this.#ground;
    const { started } = this.#ports;
    chronicle.events += 1;
    chronicle.note("start", peer.slot, "");
    try {
      peer.start();
    } catch (fault) {
      if (peer.isDamaged && (fault instanceof IntegrityFailure || fault instanceof InvariantViolation)) {
        chronicle.marks.add("a damaged peer did not start");
        return;
      }
      if (fault instanceof InvariantViolation)
        throw new Violation(fault.id, `peer ${peer.slot} was started on an undamaged disk`, fault.message);
      throw fault;
    }
    started(peer);
  }

  /** Ends a peer's process; it comes back by itself after a while unless told otherwise. */
  crash(peer: SimPeer, kind: CrashKind, comesBack = true): void {
    const { scheduler, chronicle } = this.#ground;
    const { ended } = this.#ports;
    if (chronicle.isHealed && comesBack) return;
    if (!peer.isUp) {
      if (kind === "power") peer.losePower();
      return;
    }
    chronicle.events += 1;
    chronicle.note("crash", peer.slot, kind);
    chronicle.faults.add(`crash: ${kind}`);
    if (peer.disk.flushing) chronicle.marks.add("crashed before a flush ended");
    if (isMakingIndex(peer)) chronicle.marks.add("the making of an index was cut by a crash");
    if (kind === "power, torn write") this.#tearWrite(peer);
    else if (kind === "power") peer.losePower();
    else peer.crash(kind === "process, bytes visible");
    this.#actionsLeft.delete(peer.slot);
    ended(peer);
    const unit = this.#nextUnit(peer);
    if (!comesBack) return;
    const down = unit.spread("comes back after", USUAL_DOWN_MICROS, DOWN_MICROS, 1_000, LONGEST_DOWN_MICROS);
    scheduler.after(down, () => this.start(peer));
  }

  /** Power goes while a transaction is being written, and a part of it is on the disk. */
  #tearWrite(peer: SimPeer): void {
    const share = this.unitOf(peer).between("of a torn write per mille", 500, 1, 999);
    if (!peer.isDamaged && peer.disk.tear(share)) {
      peer.isDamaged = true;
      this.#ground.chronicle.marks.add("a transaction was torn");
    }
    peer.losePower();
  }

  #nextUnit({ slot }: SimPeer): Unit {
    const stream = this.#ports.streams[slot];
    if (stream === undefined) throw new RangeError(`there is no peer ${slot}`);
    const unit = stream.next();
    this.#units[slot] = unit;
    return unit;
  }

  /** The peer will crash before its action number `count` from now. */
  armCrash(peer: SimPeer, count: number, kind: CrashKind): void {
    this.#actionsLeft.set(peer.slot, { left: count, kind });
  }

  /** Whether the next action of a step happens; a crash may be due before it. */
  mayAct(peer: SimPeer): boolean {
    if (this.#actionsLeft.size === 0) return true;
    const armed = this.#actionsLeft.get(peer.slot);
    if (armed === undefined) return true;
    if (armed.left > 0) {
      armed.left -= 1;
      return true;
    }
    this.#actionsLeft.delete(peer.slot);
    this.#ground.chronicle.marks.add("crashed between two actions");
    this.crash(peer, armed.kind);
    return false;
  }

  /**
   * A driver has halted by itself, for which a failed flush is the only good reason. Throws any other.
   *
   * @param failure how its process ends where its flush was made to fail; undefined where its disk was sound
   */
  halted(peer: SimPeer, reason: Error, failure: CrashKind | undefined): void {
    if (reason instanceof Violation) throw reason;
    if (reason instanceof InvariantViolation)
      throw new Violation(reason.id, `peer ${peer.slot} halted by itself`, reason.message);
    if (reason instanceof IntegrityFailure)
      throw new Violation("S28", `peer ${peer.slot} halted over damage that it had found already`, reason.message);
    // Anything but a failing disk is a mistake in this program, and its stack says where.
    if (!(reason instanceof StoreFailure)) throw reason;
    if (failure === undefined)
      throw new Violation(
        "S13",
        `peer ${peer.slot} halted by itself`,
        `its disk was sound and said: ${reason.message}`,
      );
    this.#ground.chronicle.marks.add("halted by a failed flush");
    this.crash(peer, failure);
  }

  /** No process is about to end. */
  heal(): void {
    this.#actionsLeft.clear();
  }
}
