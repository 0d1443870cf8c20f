/**
 * A backup as one file: a tar of `manifest.json` and `custody.db`, in this order, which every system unpacks. Every
 * byte of it follows from its content, so a reader knows where each part must lie and accepts nothing else.
 */
import { constants, createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Data, Effect, Either } from "effect";
import type { Scope } from "effect/Scope";
import {
  type FaultKind,
  type Finding,
  damage,
  type Manifest,
  manifestText,
  maxManifestBytes,
  parseManifest,
} from "./Manifest.ts";

/** A file that is no backup, or one that does not hold: "FILE what is wrong; what to do". */
export class BackupFault extends Data.TaggedError("BackupFault")<{
  readonly kind: FaultKind;
  readonly message: string;
}> {}

/** What was found, about the file it was found in. */
export const faultOf = (file: string, { kind, what }: Finding): BackupFault =>
  new BackupFault({ kind, message: `${file}: ${what}` });

export const broken = (file: string, what: string): BackupFault => faultOf(file, { kind: "broken", what });

export const unusable = (file: string, what: string): BackupFault => faultOf(file, { kind: "unusable", what });

const BLOCK = 512;
/** Two blocks of zeros end an archive (POSIX.1-1988, ustar). */
const END = 2 * BLOCK;
/** Eleven octal digits; larger sizes are written in base 256, as GNU and bsdtar read them. */
const OCTAL_SIZES = 8 ** 11;

const padded = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK;

const sizeField = (bytes: number): Uint8Array => {
  if (bytes < OCTAL_SIZES) return Buffer.from(`${bytes.toString(8).padStart(11, "0")}\0`);
  const field = Buffer.alloc(12);
  field.writeBigUInt64BE(BigInt(bytes), 4);
  field[0] = 0x80;
  return field;
};

/** The header of a plain file in ustar: owned by root, for its owner alone. */
const headerOf = (name: string, bytes: number, madeAt: number): Uint8Array => {
  const header = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): void => void header.write(text, at, "latin1");
  put(name, 0);
  put("0000600\0", 100);
  put("0000000\0", 108);
  put("0000000\0", 116);
  header.set(sizeField(bytes), 124);
  put(
    `${Math.floor(madeAt / 1000)
      .toString(8)
      .padStart(11, "0")}\0`,
    136,
  );
  put(" ".repeat(8), 148);
  put("0", 156);
  put("ustar\0", 257);
  put("00", 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
};

/** All that comes before the database in the archive. */
const beginning = (manifest: Manifest): Uint8Array => {
  const text = Buffer.from(manifestText(manifest));
  const { madeAt, bytes } = manifest.facts;
  const blocks = Buffer.alloc(padded(text.length));
  blocks.set(text);
  return Buffer.concat([headerOf("manifest.json", text.length, madeAt), blocks, headerOf("custody.db", bytes, madeAt)]);
};

const ending = ({ facts: { bytes } }: Manifest): Uint8Array => Buffer.alloc(padded(bytes) - bytes + END);

/** How long an archive is, in bytes. */
export const archiveBytes = (manifest: Manifest): number =>
  beginning(manifest).length + manifest.facts.bytes + ending(manifest).length;

/** The bytes of an archive, piece by piece, read from the database as they are asked for. */
export async function* archiveOf(manifest: Manifest, database: string): AsyncGenerator<Uint8Array> {
  yield beginning(manifest);
  for await (const chunk of createReadStream(database, { highWaterMark: 256 * 1024 }))
    if (chunk instanceof Uint8Array) yield chunk;
  yield ending(manifest);
}

/** A backup whose parts all have their place; the database in it is still to be judged. */
export interface OpenArchive {
  readonly file: string;
  readonly manifest: Manifest;
  readonly handle: FileHandle;
  /** Where the database begins. */
  readonly offset: number;
}

const readAt = async (handle: FileHandle, offset: number, bytes: number): Promise<Uint8Array> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
  return buffer.subarray(0, bytesRead);
};

const isSame = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;

const NO_BACKUP = "it is no backup of a peer; name a file that custody backup has made";

const openedOf = async (file: string, handle: FileHandle): Promise<Either.Either<OpenArchive, Finding>> => {
  const { size } = await handle.stat();
  const first = await readAt(handle, 0, BLOCK);
  const name = "manifest.json\0";
  if (first.length < BLOCK || Buffer.from(first).toString("latin1", 0, name.length) !== name) return damage(NO_BACKUP);
  const length = Number.parseInt(Buffer.from(first).toString("latin1", 124, 135), 8);
  if (!(length > 0 && length <= maxManifestBytes)) return damage(NO_BACKUP);
  const text = Buffer.from(await readAt(handle, BLOCK, length));
  if (text.length < length) return damage("it ends within its manifest; fetch it again");
  const parsed = parseManifest(text.toString("utf8"));
  if (Either.isLeft(parsed)) return Either.left(parsed.left);
  const manifest = parsed.right;
  const before = beginning(manifest);
  const whole = archiveBytes(manifest);
  if (size < whole) return damage(`it is cut off: it has ${size} of ${whole} bytes; fetch it again`);
  if (size > whole) return damage(`${size - whole} bytes follow its end; it was changed`);
  const after = ending(manifest);
  const isFramed =
    isSame(before, await readAt(handle, 0, before.length)) &&
    isSame(after, await readAt(handle, whole - after.length, after.length));
  return isFramed
    ? Either.right({ file, manifest, handle, offset: before.length })
    : damage("the frame of its parts is damaged; take another backup");
};

/** Opens a backup until the scope closes; the file is only read. */
export const openArchive = (file: string): Effect.Effect<OpenArchive, BackupFault, Scope> =>
  Effect.gen(function* () {
    const handle = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          // Without blocking, so that a named pipe is refused instead of waited for.
          const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
          if ((await opened.stat()).isFile()) return opened;
          await opened.close();
          throw new Error("not a file");
        },
        catch: () => unusable(file, "cannot be read; name a backup, a regular file that this user may read"),
      }),
      (opened) => Effect.promise(() => opened.close()),
    );
    const opened = yield* Effect.tryPromise({
      try: () => openedOf(file, handle),
      catch: () => unusable(file, "cannot be read to its end; check the disk"),
    });
    return yield* Either.mapLeft(opened, (finding) => faultOf(file, finding));
  });
