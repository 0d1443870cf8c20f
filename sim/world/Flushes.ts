/** The flushes of all peers: how long each takes, how it ends, and which process ends with one. */
import type { Stream } from "../base/Choices.ts";
import type { Deadlines } from "./Deadlines.ts";
import type { FlushEnd } from "../disks/LayeredDisk.ts";
import type { DiskPlan } from "../base/Plan.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";
import type { Ground } from "./Ground.ts";
import type { CrashKind } from "./Processes.ts";

const USUAL_MICROS = 150;
/** How long the slowest disk takes for one flush. */
const SLOWEST_MICROS = 4_000_000;

interface Ports {
  readonly deadlines: Deadlines;
  readonly tampering: Tampering;
  readonly plan: DiskPlan;
  /** By slot; each unit is one flush. */
  readonly streams: ReadonlyArray<Stream>;
  readonly crash: (peer: SimPeer, kind: CrashKind) => void;
}

/** All maps are by slot. */
export class Flushes {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #factors = new Map<number, number>();
  readonly #full = new Set<number>();
  readonly #ends = new Map<number, { readonly how: FlushEnd; readonly kind: CrashKind }>();
  readonly #crashes = new Map<number, { readonly kind: CrashKind; readonly perMille: number }>();
  readonly #failing = new Map<number, CrashKind>();

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
  }

  /** Makes this peer's flushes `factor` times as slow; 1 is normal. */
  slow(peer: SimPeer, factor: number): void {
    this.#factors.set(peer.slot, factor);
  }

  /** Every flush of this peer is refused cleanly from now on, or is no longer. */
  fill(peer: SimPeer, isFull: boolean): void {
    if (isFull) this.#full.add(peer.slot);
    else this.#full.delete(peer.slot);
  }

  /** How this peer's next flush will end, and its process if the flush fails. */
  armEnd(peer: SimPeer, how: FlushEnd, kind: CrashKind = "process"): void {
    this.#ends.set(peer.slot, { how, kind });
  }

  /** The peer will crash while its next flush is under way, after this part of it (0 to 999 of a thousand). */
  armCrash(peer: SimPeer, kind: CrashKind, perMille: number): void {
    this.#crashes.set(peer.slot, { kind, perMille });
  }

  /** A flush of a peer begins. */
  begin(peer: SimPeer): void {
    const { scheduler, pauses, observer } = this.#ground;
    const { deadlines, plan, crash } = this.#ports;
    const { process } = peer;
    observer?.flushing(peer, peer.underWay);
    const stream = this.#ports.streams[peer.slot];
    if (stream === undefined) throw new RangeError(`there is no peer ${peer.slot}`);
    const { leastFlushMicros, mostFlushMicros } = plan;
    const drawn = stream.next().between("takes", USUAL_MICROS, leastFlushMicros, mostFlushMicros, 1, SLOWEST_MICROS);
    const latency = Math.min(drawn * (this.#factors.get(peer.slot) ?? 1), SLOWEST_MICROS);
    deadlines.flushing(peer, scheduler.now, latency);
    const armed = this.#crashes.get(peer.slot);
    if (armed !== undefined) {
      this.#crashes.delete(peer.slot);
      scheduler.after(Math.floor((latency * armed.perMille) / 1000), () => {
        if (peer.isUp && peer.process === process) crash(peer, armed.kind);
      });
    }
    scheduler.after(latency, () => {
      const waiting = pauses.waitingFor(peer);
      if (waiting === undefined) this.#end(peer, process);
      else waiting.push(() => this.#end(peer, process));
    });
  }

  #end(peer: SimPeer, process: number): void {
    if (!peer.isUp || peer.process !== process || !peer.disk.flushing) return;
    const { chronicle, settle } = this.#ground;
    const { crash } = this.#ports;
    chronicle.events += 1;
    const how = this.#endOf(peer);
    chronicle.note("flush", peer.slot, how, peer.underWay.length);
    peer.endFlush(how);
    if (how === "durable, unreported") {
      chronicle.marks.add("crashed after a flush, before it was reported");
      crash(peer, "process");
    }
    settle(peer);
  }

  /** How the peer's flush that is due now ends; what was armed for it is used up. */
  #endOf(peer: SimPeer): FlushEnd {
    const { chronicle } = this.#ground;
    const { tampering } = this.#ports;
    const armed = this.#ends.get(peer.slot);
    this.#ends.delete(peer.slot);
    const isFull = this.#full.has(peer.slot);
    if (isFull) chronicle.marks.add("a full disk refused a write");
    const how = isFull ? "failed, lost" : (tampering.flushEnd?.(peer) ?? armed?.how ?? "durable");
    if (how.startsWith("failed")) this.#failing.set(peer.slot, armed?.kind ?? "process");
    return how;
  }

  /** How the process ends of a peer whose driver has just met a failed flush; undefined where its disk was sound. */
  takeFailure(peer: SimPeer): CrashKind | undefined {
    const kind = this.#failing.get(peer.slot);
    this.#failing.delete(peer.slot);
    return kind;
  }

  /** A peer's process has ended, and what was armed for its next flush is called off. */
  forget(peer: SimPeer): void {
    this.#ends.delete(peer.slot);
    this.#crashes.delete(peer.slot);
  }

  /** Every disk is sound, quick and has room. */
  heal(): void {
    this.#ends.clear();
    this.#crashes.clear();
    this.#factors.clear();
    this.#full.clear();
  }
}
