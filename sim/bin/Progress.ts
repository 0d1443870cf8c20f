/** How far a hunt is, on standard error: a bar on a terminal, a line now and then elsewhere. */
import { failedText, type HuntReport } from "../hunting/Report.ts";

const BAR_CELLS = 30;
const REDRAW_MILLIS = 100;
const LINE_MILLIS = 10_000;

const perSecond = (count: number, millis: number): string =>
  Math.round((count * 1000) / Math.max(1, millis)).toLocaleString("en-US");

const bar = (done: number, total: number): string => {
  const cells = Math.min(BAR_CELLS, Math.floor((done * BAR_CELLS) / total));
  return `[${"#".repeat(cells)}${"-".repeat(BAR_CELLS - cells)}]`;
};

export class Progress {
  readonly #total: number;
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #drawnAt: number;
  /** Failures that were told of. */
  #told = 0;

  /** @param total how many seeds there are to run */
  constructor(total: number, stream: NodeJS.WriteStream = process.stderr) {
    this.#total = total;
    this.#stream = stream;
    this.#drawnAt = this.#startedAt;
  }

  get millis(): number {
    return performance.now() - this.#startedAt;
  }

  /** Seeds and events per second so far. */
  rates({ seeds, events }: Pick<HuntReport, "seeds" | "events">): string {
    return `${perSecond(seeds, this.millis)} seeds/s, ${perSecond(events, this.millis)} events/s`;
  }

  readonly update = (report: HuntReport): void => {
    // A hunt may go on for hours: nobody has to wait for what it has found.
    for (const failure of report.failures.slice(this.#told)) this.say(failedText(failure));
    this.#told = report.failures.length;
    const now = performance.now();
    if (now - this.#drawnAt < (this.#stream.isTTY ? REDRAW_MILLIS : LINE_MILLIS)) return;
    this.#drawnAt = now;
    const failed = report.failures.length === 0 ? "" : `, ${report.failures.length} failed`;
    const line = `${report.seeds} of ${this.#total} seeds, ${this.rates(report)}${failed}`;
    this.#stream.write(this.#stream.isTTY ? `\r\u001b[K${bar(report.seeds, this.#total)} ${line}` : `${line}\n`);
  };

  /** Prints a line above the bar. */
  say(line: string): void {
    this.end();
    this.#stream.write(`${line}\n`);
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\u001b[K");
  }
}
