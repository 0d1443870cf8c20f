/** Connections that were cut off: counted one by one, and logged once a minute at most. */
import type { Log } from "../peer/Log.ts";

/** Why a connection was cut off; names for metrics and log. */
export type CutReason =
  | "tooMany"
  | "tooManyOfOneAddress"
  | "tooManyRequests"
  | "handshake"
  | "slowRequest"
  | "slowReader"
  | "notAccepted";

export interface CutReportPorts {
  /** The listener, as the log names it. */
  readonly listener: string;
  readonly log: Log;
  readonly count: (reason: CutReason) => void;
}

const MINUTE_MILLIS = 60_000;

export class CutReport {
  readonly #ports: CutReportPorts;
  readonly #cuts = new Map<CutReason, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ports: CutReportPorts) {
    this.#ports = ports;
  }

  /** Counts one; the first after a quiet minute is logged at once, those of the minute after it together. */
  readonly add = (reason: CutReason): void => {
    this.#ports.count(reason);
    this.#cuts.set(reason, (this.#cuts.get(reason) ?? 0) + 1);
    if (this.#timer === undefined) this.#tell();
  };

  #tell(): void {
    this.#timer = undefined;
    if (this.#cuts.size === 0) return;
    const { listener, log } = this.#ports;
    log.warn("connections cut off", { listener, ...Object.fromEntries(this.#cuts) });
    this.#cuts.clear();
    this.#timer = setTimeout(() => this.#tell(), MINUTE_MILLIS).unref();
  }
}
