/** What the audit can be written to: standard output, and a file that is rotated by its size. */
import { once } from "node:events";
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename, dirname, sep } from "node:path";
import { createStream, type RotatingFileStream } from "rotating-file-stream";

export interface SinkTarget {
  /** Takes whole lines; resolves when they are handed over, to a file when they are on its disk. Rejects otherwise. */
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export const standardOutput: SinkTarget = {
  write: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  close: () => Promise.resolve(),
};

const withFile = async <A>(path: string, flags: string, use: (handle: FileHandle) => Promise<A>): Promise<A> => {
  const handle = await open(path, flags, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
};

/** Far above the longest event. */
const TAIL_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/** Cuts off the beginning of a line that a full disk or a power loss left at the end of a file. */
const cutTornLine = async (path: string): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size === 0) return;
  await withFile(path, "r+", async (handle) => {
    const tail = Buffer.alloc(Math.min(found.size, TAIL_BYTES));
    const from = found.size - tail.length;
    await handle.read(tail, 0, tail.length, from);
    const end = tail.lastIndexOf(NEWLINE);
    // Without any line it is none of ours, or nothing but the torn one.
    if (end === tail.length - 1 || (end === -1 && from > 0)) return;
    await handle.truncate(from + end + 1);
    await handle.datasync();
  });
};

const shortWrite = Object.assign(new Error("not all was written"), { code: "ENOSPC" });

export interface RotatedFileSettings {
  /** Absolute; files before it are `path.1`, the newest, to `path.<keep>`. */
  readonly path: string;
  /** After which a file is followed by a new one. */
  readonly maxBytes: number;
  readonly keep: number;
}

export class RotatedFile implements SinkTarget {
  readonly #settings: RotatedFileSettings;
  #stream: RotatingFileStream | undefined;
  #bytes = 0;
  #isRotated = false;
  #fault: Error | undefined;

  constructor(settings: RotatedFileSettings) {
    this.#settings = settings;
  }

  async write(text: string): Promise<void> {
    try {
      const stream = this.#stream ?? (await this.#open());
      this.#isRotated = false;
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      });
      await this.#flush(Buffer.byteLength(text));
    } catch (fault) {
      this.#stream?.destroy();
      this.#stream = undefined;
      throw this.#fault ?? fault;
    }
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream !== undefined) await new Promise<void>((resolve) => stream.end(() => resolve()));
  }

  async #open(): Promise<RotatingFileStream> {
    const { path, maxBytes, keep } = this.#settings;
    for (const file of [path, `${path}.1`]) await cutTornLine(file);
    const folder = dirname(path);
    const stream = createStream(basename(path), {
      path: folder.endsWith(sep) ? folder : `${folder}${sep}`,
      size: `${maxBytes}B`,
      rotate: keep,
      mode: 0o600,
    });
    this.#fault = undefined;
    stream.on("error", (fault) => {
      this.#fault = fault;
      this.#stream = undefined;
    });
    stream.on("rotated", () => {
      this.#isRotated = true;
    });
    await once(stream, "open");
    this.#stream = stream;
    this.#bytes = (await stat(path)).size;
    return stream;
  }

  /** The stream takes what the disk did not for written, and leaves it in memory: so the size is looked at as well. */
  async #flush(added: number): Promise<void> {
    const { path } = this.#settings;
    await withFile(this.#isRotated ? `${path}.1` : path, "r+", async (handle) => {
      const { size } = await handle.stat();
      if (size < this.#bytes + added) throw shortWrite;
      await handle.datasync();
    });
    if (this.#isRotated || this.#bytes === 0) await withFile(dirname(path), "r", (folder) => folder.sync());
    this.#bytes = this.#isRotated ? 0 : this.#bytes + added;
  }
}
