/** Where texts of several processes begin to differ, found while they are still being written. */

const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/** The first line in which a text differs from the first one; undefined where a text has ended before. */
export interface Difference {
  /** Which of the texts, from 0; the first is the one that the others are compared with. */
  readonly which: number;
  /** The line before, which they have in common. */
  readonly before: string | undefined;
  readonly expected: string | undefined;
  readonly found: string | undefined;
}

/** The unread part of one text. */
class Reader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #ended = false;
  pending: Buffer = NOTHING;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Reads on; false at the end. */
  async more(): Promise<boolean> {
    if (this.#ended) return false;
    const { done, value } = await this.#chunks.next();
    if (done === true) this.#ended = true;
    else this.pending = Buffer.concat([this.pending, value]);
    return done !== true;
  }

  /** The line that is next, read to its end; undefined where there is none. */
  async line(): Promise<string | undefined> {
    let end = this.pending.indexOf(NEWLINE);
    while (end < 0 && (await this.more())) end = this.pending.indexOf(NEWLINE);
    if (this.pending.length === 0) return undefined;
    return this.pending.toString("utf8", 0, end < 0 ? this.pending.length : end);
  }
}

/** Bytes that all have in common from their beginning, as whole lines. */
const commonLines = (readers: ReadonlyArray<Reader>): number => {
  const shortest = Math.min(...readers.map(({ pending }) => pending.length));
  const [first = NOTHING, ...others] = readers.map(({ pending }) => pending.subarray(0, shortest));
  if (!others.every((each) => each.equals(first))) {
    // One of the lines is different: go on line by line.
    const end = first.indexOf(NEWLINE);
    return end >= 0 && others.every((each) => each.subarray(0, end + 1).equals(first.subarray(0, end + 1)))
      ? end + 1
      : 0;
  }
  return first.lastIndexOf(NEWLINE) + 1;
};

const lastLine = (text: Buffer): string => {
  const end = text.length - 1;
  return text.toString("utf8", text.lastIndexOf(NEWLINE, end - 1) + 1, end);
};

/**
 * Compares texts with the first of them, line by line, and stops at the first difference.
 *
 * @param texts at least one, in UTF-8
 * @returns the difference, or how many lines they have in common when all have ended
 */
export const firstDifference = async (
  texts: ReadonlyArray<AsyncIterable<Uint8Array>>,
): Promise<Difference | { readonly lines: number }> => {
  const readers = texts.map((text) => new Reader(text));
  let before: string | undefined;
  let lines = 0;
  for (;;) {
    const lineOf = await Promise.all(readers.map((reader) => reader.line()));
    const [expected] = lineOf;
    const which = lineOf.findIndex((line) => line !== expected);
    if (which >= 0) return { which, before, expected, found: lineOf[which] };
    if (expected === undefined) return { lines };
    const common = Math.max(commonLines(readers), Buffer.byteLength(expected) + 1);
    const [{ pending } = { pending: NOTHING }] = readers;
    const agreed = pending.subarray(0, common);
    for (const byte of agreed) if (byte === NEWLINE) lines += 1;
    before = lastLine(agreed);
    for (const reader of readers) reader.pending = reader.pending.subarray(common);
  }
};
