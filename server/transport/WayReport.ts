/** Why another peer cannot be reached, told once for each change: only `custody doctor` would say so otherwise. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Log } from "../peer/Log.ts";

/** At most one line about a peer in this time; what changes within it is told by the first message after it, if it lasts. */
const QUIET_MILLIS = 10_000;

export interface WayReportPorts {
  readonly peerId: PeerId;
  /** As configured. */
  readonly url: string;
  readonly log: Log;
  readonly elapsedMillis: () => number;
}

export class WayReport {
  readonly #ports: WayReportPorts;
  /** What was told last; undefined where the peer could be reached. */
  #told: string | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(ports: WayReportPorts) {
    this.#ports = ports;
  }

  /** @param why what is in the way of a message and what to do about it; undefined where it was answered */
  readonly ended = (why: string | undefined): void => {
    const { peerId, url, log, elapsedMillis } = this.#ports;
    if (why === this.#told || elapsedMillis() - this.#toldAt < QUIET_MILLIS) return;
    this.#told = why;
    this.#toldAt = elapsedMillis();
    if (why === undefined) log.info("peer reachable", { peerId, url });
    else log.warn("peer unreachable", { peerId, url, reason: why });
  };
}
