/** Reads a file an operator named: bounded, regular files only, and closed to strangers when it holds a secret. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Effect } from "effect";

export interface BoundedFileOptions {
  readonly maxBytes: number;
  /** Refuse a file that users outside its owner and group may read or write. */
  readonly secret: boolean;
}

/** "FILE what is wrong; what to do", without the content of the file. */
export type FileFault = { readonly _tag: "FileFault"; readonly message: string; readonly isMissing: boolean };

const fault = (path: string, message: string, isMissing = false): FileFault => ({
  _tag: "FileFault",
  message: `${path} ${message}`,
  isMissing,
});

const systemFault =
  (path: string) =>
  (cause: unknown): FileFault => {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR")
      return fault(path, "does not exist; create it or correct the path", true);
    if (code === "EACCES" || code === "EPERM") return fault(path, "may not be read; give this user read permission");
    if (code === "ENXIO") return fault(path, "is not a regular file; name a regular file");
    return fault(path, "cannot be read; check the path and the disk");
  };

const readUpTo = async (handle: FileHandle, maxBytes: number): Promise<Uint8Array | undefined> => {
  const buffer = new Uint8Array(maxBytes + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, null);
    if (bytesRead === 0) return buffer.slice(0, filled);
    filled += bytesRead;
  }
  return undefined;
};

const readOpened = async (
  handle: FileHandle,
  path: string,
  options: BoundedFileOptions,
): Promise<Uint8Array | FileFault> => {
  const status = await handle.stat();
  if (!status.isFile()) return fault(path, "is not a regular file; name a regular file");
  if (options.secret && process.platform !== "win32" && (status.mode & 0o007) !== 0) {
    return fault(path, `holds a secret and every user may open it; run chmod 600 ${path}`);
  }
  const bytes = await readUpTo(handle, options.maxBytes);
  return bytes ?? fault(path, `is larger than ${options.maxBytes} bytes; shorten it or name another file`);
};

/**
 * The bytes of a regular file.
 *
 * Opened without blocking, so that a named pipe is refused instead of waited for.
 * Fails with a {@link FileFault} when it is missing, unreadable, not a regular
 * file, longer than `maxBytes`, or a secret that strangers may read.
 */
export const readBoundedFile = (path: string, options: BoundedFileOptions): Effect.Effect<Uint8Array, FileFault> =>
  Effect.acquireUseRelease(
    Effect.tryPromise({ try: () => open(path, constants.O_RDONLY | constants.O_NONBLOCK), catch: systemFault(path) }),
    (handle) =>
      Effect.tryPromise({ try: () => readOpened(handle, path, options), catch: systemFault(path) }).pipe(
        Effect.flatMap((result) => (result instanceof Uint8Array ? Effect.succeed(result) : Effect.fail(result))),
      ),
    // The bytes are read; an error in closing takes nothing back.
    (handle) => Effect.ignore(Effect.tryPromise(() => handle.close())),
  );

const decoder = new TextDecoder("utf-8", { fatal: true });

/** As {@link readBoundedFile}, decoded as UTF-8; ill-formed text is a fault. */
export const readBoundedText = (path: string, options: BoundedFileOptions): Effect.Effect<string, FileFault> =>
  readBoundedFile(path, options).pipe(
    Effect.flatMap((bytes) =>
      Effect.try({
        try: () => decoder.decode(bytes),
        catch: () => fault(path, "is not UTF-8 text; save it as UTF-8"),
      }),
    ),
  );
