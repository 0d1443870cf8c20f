/**
 * The journal of what operators did while there was no key, as a file beside the
 * database: one line for each act, flushed before its caller is answered,
 *
 *     SHA-256 of (the hash before, or nothing, and the entry), in hexadecimal | space | entry in hexadecimal
 *
 * The chain reveals lines that were cut off or changed by accident; only the rows that the acts end up in are signed.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync, readFileSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Effect, Either } from "effect";
import type { Scope } from "effect/Scope";
import { record, uint } from "../../core/codec/Codec.ts";
import { NEWEST, writtenIn } from "../../core/codec/Versioned.ts";
import { decode, versionOf } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { operatorActCodec } from "../../core/protocol/OperatorAct.ts";
import type { KeptAct, OperatorJournal } from "../../runtime/OperatorLog.ts";
import { type StartError, startError } from "./StartError.ts";

/** Acts that one period of being sealed may leave; the largest takes some 10 KiB. */
const MOST_KEPT = 4_096;
/** With these in it refusals stand in the log alone: what is left is for acts that were carried out. */
const MOST_WITH_REFUSALS = MOST_KEPT / 2;
const MOST_BYTES = MOST_KEPT * 16 * 1024;

const keptCodec = writtenIn(NEWEST, record({ no: uint, act: operatorActCodec }));

const LATER = "was written by a later version of this program; start that one";

export const operatorFile = (directory: string): string => join(resolve(directory), "operators.log");

const chained = (before: string, entry: Uint8Array): string =>
  createHash("sha256").update(before).update(entry).digest("hex");

const lineOf = (hash: string, entry: Uint8Array): string => `${hash} ${Buffer.from(entry).toString("hex")}`;

interface Content {
  readonly acts: ReadonlyArray<KeptAct>;
  /** Of the last line that holds; empty before the first. */
  readonly hash: string;
  /** Bytes up to the end of that line. */
  readonly length: number;
}

/** The lines that hold, from the first on; any others were never answered for, or were changed. */
const contentOf = (text: string): Content => {
  const acts: Array<KeptAct> = [];
  let [hash, length] = ["", 0];
  for (const line of text.split("\n").slice(0, -1)) {
    const entry = Uint8Array.from(Buffer.from(line.split(" ")[1] ?? "", "hex"));
    const kept = decode(keptCodec, entry);
    const next = chained(hash, entry);
    if (line !== lineOf(next, entry)) break;
    // Lines that a later program has answered for must not be overwritten.
    if (versionOf(entry) > NEWEST) throw new Error(LATER);
    if (Either.isLeft(kept)) break;
    acts.push(kept.right);
    hash = next;
    length += line.length + 1;
  }
  return { acts, hash, length };
};

const flushName = (path: string): void => {
  const folder = openSync(join(path, ".."), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

export interface OperatorFile extends OperatorJournal {
  /** Acts that are in it now, taken over or not. */
  readonly count: () => number;
  /** Whether there is room for refusals; acts that were carried out have more. */
  readonly hasRoom: () => boolean;
  /** For the status: that refusals are not recorded any more. */
  readonly warnings: () => ReadonlyArray<string>;
}

class OpenFile implements OperatorFile {
  readonly acts: ReadonlyArray<KeptAct>;
  readonly #file: FileHandle;
  #hash: string;
  #length: number;
  #count: number;
  #turn: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, { acts, hash, length }: Content) {
    this.acts = acts;
    this.#file = file;
    this.#hash = hash;
    this.#length = length;
    this.#count = acts.length;
  }

  readonly count = (): number => this.#count;

  readonly hasRoom = (): boolean => this.#count < MOST_WITH_REFUSALS;

  readonly warnings = (): ReadonlyArray<string> =>
    this.hasRoom()
      ? []
      : [
          `operators.log: it holds ${this.#count} acts, and refusals are only logged now; see docs/operations.md, "The audit"`,
        ];

  readonly append = (kept: KeptAct, isFirst: boolean, done: (failure?: Error) => void): void => {
    this.#turn = this.#turn
      .then(() => this.#write(kept, isFirst))
      .then(
        () => done(),
        (fault: unknown) => done(fault instanceof Error ? fault : new Error("the file cannot be written")),
      );
  };

  async #write(kept: KeptAct, isFirst: boolean): Promise<void> {
    if (!isFirst && this.#count >= MOST_KEPT) throw new Error(`operators.log holds ${MOST_KEPT} acts already`);
    const [before, from] = isFirst ? ["", 0] : [this.#hash, this.#length];
    const entry = encode(keptCodec, kept);
    const hash = chained(before, entry);
    const line = Buffer.from(`${lineOf(hash, entry)}\n`);
    // The remains of a failed write would hide all that comes after them.
    await this.#file.truncate(from);
    // Whatever fails from here on, what memory goes on from is what the file begins with.
    if (isFirst) this.#count = 0;
    this.#hash = before;
    this.#length = from;
    await this.#writeWhole(line, from);
    await this.#file.sync();
    this.#hash = hash;
    this.#length = from + line.length;
    this.#count += 1;
  }

  /** A disk that fills up takes a part, and says so only when asked to take more. */
  async #writeWhole(line: Buffer, from: number): Promise<void> {
    for (let at = 0; at < line.length; ) {
      const { bytesWritten } = await this.#file.write(line, at, line.length - at, from + at);
      if (bytesWritten === 0) throw new Error("the file takes no more");
      at += bytesWritten;
    }
  }
}

/**
 * Opens the journal in a data folder, or makes it (mode 0600), until the scope closes.
 *
 * @param report told when the end of the file does not hold, and is left out
 */
export const openOperatorFile = (
  directory: string,
  report: (what: string) => void,
): Effect.Effect<OperatorFile, StartError, Scope> => {
  const path = operatorFile(directory);
  const opening = Effect.tryPromise({
    try: async () => {
      const isThere = statSync(path, { throwIfNoEntry: false });
      if (isThere !== undefined && (!isThere.isFile() || isThere.size > MOST_BYTES)) throw new Error("not a journal");
      const text = isThere === undefined ? "" : readFileSync(path, "latin1");
      const content = contentOf(text);
      const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
      try {
        flushName(path);
      } catch (fault) {
        await file.close();
        throw fault;
      }
      if (content.length < text.length)
        report(`operators.log: ${text.length - content.length} bytes at its end are no acts that were answered for`);
      return { file, content };
    },
    catch: (fault) =>
      startError(
        fault instanceof Error && fault.message === LATER
          ? `${path}: ${LATER}`
          : `${path}: cannot be read and written; make it a file of this user, or keep it elsewhere as evidence`,
      ),
  });
  return Effect.map(
    Effect.acquireRelease(opening, ({ file }) => Effect.ignore(Effect.tryPromise(() => file.close()))),
    ({ file, content }) => new OpenFile(file, content),
  );
};
