/**
 * One sink on its way behind the audit: it gets every durable event, in order and at least once, and whatever is wrong
 * with it holds nothing else up.
 */
import { Either } from "effect";
import { type AuditReadPorts, type AuditRow, readAudit } from "../../runtime/AuditReads.ts";
import type { Log } from "../peer/Log.ts";
import { CHAIN_START, type ChainPlace } from "./AuditChain.ts";
import { auditEvent } from "./AuditEvent.ts";
import type { SinkName, SinkPositions } from "./SinkPositions.ts";
import type { SinkTarget } from "./SinkTargets.ts";

/** Rows that are read and verified before other work goes on. */
const SLICE = 16;
/** The most rows of one writing, and about as many bytes. */
const BATCH = 512;
const BATCH_BYTES = 512 * 1024;
/** How often it looks for new events, and how long it leaves a target alone that failed. */
const POLL_MILLIS = 1_000;
const AWAY_MILLIS = 5_000;

export interface AuditSinkPorts {
  readonly name: SinkName;
  readonly target: SinkTarget;
  readonly positions: SinkPositions;
  /** What is read at this moment. */
  readonly reading: () => AuditReadPorts;
  readonly log: Pick<Log, "warn" | "info">;
  /** Counts a failure. */
  readonly failed: () => void;
}

const othersFirst = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const reasonOf = (fault: unknown): string =>
  fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "unknown";

export class AuditSink {
  readonly #ports: AuditSinkPorts;
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<void> = Promise.resolve();
  #isStopped = false;
  #fault: string | undefined;

  constructor(ports: AuditSinkPorts) {
    this.#ports = ports;
  }

  /** Why nothing is written at the moment, as `audit.sinks.NAME: what; what to do`. */
  get fault(): string | undefined {
    return this.#fault === undefined ? undefined : `audit.sinks.${this.#ports.name}: ${this.#fault}`;
  }

  /** Events that are durable here and not yet written there. */
  get behind(): number {
    const { name, positions, reading } = this.#ports;
    return Math.max(0, reading().state.signed.audit.seq - positions.at(name).seq);
  }

  start(): void {
    this.#pass = this.#run();
  }

  /** Resolves when the writing under way has ended, if it does within `waitMillis`. */
  async stop(waitMillis: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const patience = new Promise<void>((resolve) => void setTimeout(resolve, waitMillis).unref());
    await Promise.race([this.#pass.then(() => this.#ports.target.close().catch(() => undefined)), patience]);
  }

  async #run(): Promise<void> {
    const { log, name, failed } = this.#ports;
    try {
      while (!this.#isStopped && (await this.#deliver()));
      if (this.#fault !== undefined) log.info("audit sink goes on", { sink: name });
      this.#fault = undefined;
    } catch (fault) {
      failed();
      const reason = reasonOf(fault);
      const text = `nothing is written (${reason}); make room or mend it, and it goes on by itself`;
      if (this.#fault !== text) log.warn("audit sink", { sink: name, reason, behind: this.behind });
      this.#fault = text;
    }
    if (this.#isStopped) return;
    const wait = this.#fault === undefined ? POLL_MILLIS : AWAY_MILLIS;
    this.#timer = setTimeout(() => this.start(), wait).unref();
  }

  /** Writes some of what is there; true when there may be more. */
  async #deliver(): Promise<boolean> {
    const { name, positions, target } = this.#ports;
    const place = positions.at(name);
    const rows = await this.#rowsAfter(place);
    const last = rows.at(-1);
    if (last === undefined) return false;
    await target.write(rows.map((row) => `${JSON.stringify(auditEvent(row))}\n`).join(""));
    await positions.keep(name, { seq: last.row.seq, hash: last.hash });
    return true;
  }

  /** None while nothing can be read: a sealed peer tells its sinks later. */
  async #rowsAfter(place: ChainPlace): Promise<ReadonlyArray<AuditRow>> {
    const rows: Array<AuditRow> = [];
    let bytes = 0;
    while (rows.length < BATCH && bytes < BATCH_BYTES && !this.#isStopped) {
      const reading = this.#ports.reading();
      const last = rows.at(-1);
      const at = last === undefined ? place : { seq: last.row.seq, hash: last.hash };
      const slice = readAudit(reading, at.seq + 1, SLICE);
      if (Either.isLeft(slice)) break;
      const { audit } = reading.state.signed;
      const [next] = slice.right;
      const isBehind = next === undefined && (audit.seq < at.seq || audit.hash !== at.hash);
      if (isBehind || (next !== undefined && next.row.prevHash !== at.hash)) return this.#beginAnew(at);
      rows.push(...slice.right);
      for (const { row } of slice.right) bytes += row.detail.length + 1_024;
      if (slice.right.length < SLICE) break;
      await othersFirst();
    }
    return rows;
  }

  /** This peer was put back on an older disk, and what follows now is another chain. */
  async #beginAnew({ seq }: ChainPlace): Promise<ReadonlyArray<AuditRow>> {
    const { name, positions, log } = this.#ports;
    log.warn("audit sink", {
      sink: name,
      reason: "the audit does not go on from what was written; all is written anew",
      seq,
    });
    await positions.keep(name, CHAIN_START);
    return this.#isStopped ? [] : this.#rowsAfter(CHAIN_START);
  }
}
