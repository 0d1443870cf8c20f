/**
 * Everything operators do on its way into the log, the metrics and the audit. Refusals are counted by caller and
 * reason, those of repairs by key too: the first of a minute is recorded at once, the rest of that minute as one, so that nobody can fill a disk by
 * asking for what is refused.
 */
import { isRefusal, type OperatorAct, type OperatorCall } from "../../core/protocol/OperatorAct.ts";
import type { Log } from "./Log.ts";
import type { Metrics } from "./Metrics.ts";

/** Different refusals that are recorded one by one in a minute; any more are recorded as one. */
const MOST_REFUSALS = 16;
const WINDOW_MILLIS = 60_000;

export interface OperatorAuditPorts {
  /** Records an act durably; rejects where that fails. */
  readonly record: (act: OperatorAct) => Promise<void>;
  /** Whether there is room for refusals; acts that were carried out have more. */
  readonly hasRoom: () => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface Repeated {
  /** Undefined where there is no operator to name. */
  act: OperatorAct | undefined;
  readonly call: OperatorCall;
  readonly outcome: string;
  times: number;
}

/**
 * What is counted as the same refusal. Of repairs each key is named, because helpers may have told of their shares of
 * it; but not where the caller may repair nothing: with ever other keys it could take up all rows of a minute.
 */
const kindOf = ({ call, outcome, actor, request }: OperatorAct): string => {
  const path = call === "REPAIR" && outcome !== "ACCESS_DENIED" ? request.path : undefined;
  return `${call} ${outcome} ${JSON.stringify([actor.iss, actor.sub, path])}`;
};

export class OperatorAudit {
  readonly #ports: OperatorAuditPorts;
  readonly #repeated = new Map<string, Repeated>();
  #window: NodeJS.Timeout | undefined;

  constructor(ports: OperatorAuditPorts) {
    this.#ports = ports;
  }

  /** Something was done. Rejects where it cannot be recorded; `isWritten` where the change itself recorded it. */
  async done(act: OperatorAct, isWritten: boolean): Promise<void> {
    this.#count(act);
    this.#tell(act);
    if (!isWritten) await this.#ports.record(act);
  }

  /** A bearer of a valid token was refused; resolves when that is recorded, or counted for later. */
  async refused(act: OperatorAct): Promise<void> {
    this.#count(act);
    const { call, outcome } = act;
    const isNew = this.#repeat(kindOf(act), { act, call, outcome });
    if (isNew) await this.#record(act);
  }

  /** A call came without a valid token: there is no operator to name. */
  unauthenticated(call: OperatorCall): void {
    const outcome = "UNAUTHENTICATED";
    this.#count({ call, outcome });
    if (this.#repeat(`${call} ${outcome}`, { act: undefined, call, outcome }))
      this.#ports.log.warn("operator", { call, outcome, times: 1 });
  }

  /** Records what has been counted so far. */
  async flush(): Promise<void> {
    clearTimeout(this.#window);
    this.#window = undefined;
    const repeated = [...this.#repeated.values()];
    this.#repeated.clear();
    for (const { act, call, outcome, times } of repeated) {
      if (times === 0) continue;
      if (act === undefined) this.#ports.log.warn("operator", { call, outcome, times });
      else await this.#record({ ...act, at: this.#ports.now(), times });
    }
  }

  /** Counts a refusal; true when it is the first of its kind in this minute. */
  #repeat(key: string, { act, call, outcome }: Omit<Repeated, "times">): boolean {
    this.#window ??= setTimeout(() => void this.flush(), WINDOW_MILLIS).unref();
    const isCrowded = !this.#repeated.has(key) && this.#repeated.size >= MOST_REFUSALS;
    const known = this.#repeated.get(isCrowded ? "" : key);
    if (known !== undefined) {
      known.times += 1;
      if (act !== undefined && !isCrowded) known.act = act;
      return false;
    }
    const last = isCrowded && act !== undefined ? { ...act, detail: "the first of many" } : act;
    this.#repeated.set(isCrowded ? "" : key, { act: last, call, outcome, times: isCrowded ? 1 : 0 });
    return !isCrowded;
  }

  async #record(act: OperatorAct): Promise<void> {
    this.#tell(act);
    try {
      if (this.#ports.hasRoom()) await this.#ports.record(act);
    } catch (fault) {
      // The refusal stands, and the line above tells of it.
      this.#ports.log.error("audit", { reason: fault instanceof Error ? fault.message : "unknown" });
    }
  }

  #tell({ call, outcome, detail, actor, requestId, times }: OperatorAct): void {
    const { log } = this.#ports;
    const more = { ...(detail === "" ? {} : { detail }), ...(times === 1 ? {} : { times }) };
    const fields = { call, outcome, sub: actor.sub, iss: actor.iss, jti: actor.jti, requestId, ...more };
    (isRefusal({ outcome }) ? log.warn : log.info)("operator", fields);
  }

  #count({ call, outcome }: { readonly call: string; readonly outcome: string }): void {
    this.#ports.metrics.count("custody_operator_calls_total", call, outcome);
  }
}
