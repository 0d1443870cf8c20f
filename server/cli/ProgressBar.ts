/** A line that tells how far something is, on a terminal alone. */

const WIDTH = 30;
const EVERY_MILLIS = 100;

export interface ProgressBar {
  readonly tell: (done: number) => void;
  /** Removes the line. */
  readonly end: () => void;
}

const silent: ProgressBar = { tell: () => undefined, end: () => undefined };

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** What stands on the line. */
export const barText = (what: string, done: number, of: number | undefined): string => {
  if (of === undefined || of === 0) return `${what} ${megabytes(done)}`;
  const part = Math.min(1, done / of);
  const filled = Math.floor(part * WIDTH);
  const bar = `${"#".repeat(filled)}${".".repeat(WIDTH - filled)}`;
  return `${what} [${bar}] ${Math.floor(part * 100)} % of ${megabytes(of)}`;
};

/**
 * Begins a line on standard error.
 *
 * @param of how many bytes there will be, if that is known
 */
export const progressBar = (what: string, of: number | undefined, stream = process.stderr): ProgressBar => {
  if (!stream.isTTY) return silent;
  let shownAt = 0;
  return {
    tell: (done) => {
      const now = performance.now();
      if (now - shownAt < EVERY_MILLIS) return;
      shownAt = now;
      stream.write(`\r\u001b[2K${barText(what, done, of)}`);
    },
    end: () => void stream.write("\r\u001b[2K"),
  };
};
