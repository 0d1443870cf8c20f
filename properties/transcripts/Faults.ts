/** The faults of a transcript: on the wire, in what a writer says, and at which point a peer crashes. */
import type { TableName } from "../../core/Tables.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Change } from "../../runtime/ByteStore.ts";

/** Messages of a kind between some peers; undefined is any. */
export interface Path {
  readonly tag: string;
  readonly from: PeerId | undefined;
  readonly to: PeerId | undefined;
}

const isOn = (path: Path, from: PeerId, to: PeerId, message: Message): boolean =>
  path.tag === message._tag && (path.from ?? from) === from && (path.to ?? to) === to;

/** Where in a step a peer crashes: around the flush of a transaction, or right behind a message. */
export type CrashPoint =
  | { readonly peerId: PeerId; readonly when: "before" | "after"; readonly table: TableName }
  | { readonly peerId: PeerId; readonly when: "sending"; readonly tag: string; readonly to: PeerId };

export interface Sent {
  readonly from: PeerId;
  readonly to: PeerId;
  readonly message: Message;
}

export class Faults {
  readonly #lost: Array<Path> = [];
  readonly #held: Array<Path> = [];
  #kept: Array<Sent> = [];
  #crash: CrashPoint | undefined;
  /** By the peer that is lied to; undefined is every peer. */
  lie: { readonly name: string; readonly to: PeerId | undefined } | undefined;

  lose(path: Path): void {
    this.#lost.push(path);
  }

  hold(path: Path): void {
    this.#held.push(path);
  }

  crashAt(point: CrashPoint): void {
    this.#crash = point;
  }

  /** The wire is whole again. */
  mend(): void {
    this.#lost.length = 0;
    this.#held.length = 0;
  }

  /** Messages that were held back, in their order. */
  release(): ReadonlyArray<Sent> {
    const kept = this.#kept;
    this.#kept = [];
    this.#held.length = 0;
    return kept;
  }

  /** The treatment of a message on the wire. */
  fate(sent: Sent): "goes" | "lost" | "held" {
    const { from, to, message } = sent;
    if (this.#lost.some((path) => isOn(path, from, to, message))) return "lost";
    if (!this.#held.some((path) => isOn(path, from, to, message))) return "goes";
    this.#kept.push(sent);
    return "held";
  }

  /** Whether the sender crashes right behind this message. */
  crashesBehind({ from, to, message }: Sent): boolean {
    const point = this.#crash;
    if (point?.when !== "sending" || point.peerId !== from || point.tag !== message._tag || point.to !== to)
      return false;
    this.#crash = undefined;
    return true;
  }

  /** On which side of the flush of a transaction the peer crashes, if it does. */
  crashesAround(peerId: PeerId, changes: ReadonlyArray<Change>): "before" | "after" | undefined {
    const point = this.#crash;
    if (point === undefined || point.when === "sending" || point.peerId !== peerId) return undefined;
    if (!changes.some(({ table }) => table === point.table)) return undefined;
    this.#crash = undefined;
    return point.when;
  }
}
