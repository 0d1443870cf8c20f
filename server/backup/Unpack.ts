/** Reads the database in a backup, and holds every byte against the manifest. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { Effect } from "effect";
import { type BackupFault, broken, type OpenArchive, unusable } from "./Archive.ts";

const PIECE = 1024 * 1024;

/** Told how many bytes are done. */
export type Tell = (bytes: number) => void;

const readAll = async (
  { handle, offset, manifest: { facts } }: OpenArchive,
  tell: Tell,
  put: (read: Uint8Array) => Promise<void> = async () => undefined,
): Promise<string> => {
  const hash = createHash("sha256");
  const piece = Buffer.alloc(PIECE);
  for (let at = 0; at < facts.bytes; ) {
    const { bytesRead } = await handle.read(piece, 0, Math.min(PIECE, facts.bytes - at), offset + at);
    if (bytesRead === 0) break;
    const read = piece.subarray(0, bytesRead);
    hash.update(read);
    await put(read);
    at += bytesRead;
    tell(at);
  }
  return hash.digest("hex");
};

const copied = async (archive: OpenArchive, target: string, tell: Tell): Promise<string> => {
  const written = await open(target, "wx", 0o600);
  try {
    const sha256 = await readAll(archive, tell, (read) => written.writeFile(read));
    await written.sync();
    return sha256;
  } finally {
    await written.close();
  }
};

const compared = (archive: OpenArchive, reading: () => Promise<string>): Effect.Effect<void, BackupFault> =>
  Effect.gen(function* () {
    const sha256 = yield* Effect.tryPromise({
      try: reading,
      catch: (fault) =>
        unusable(
          archive.file,
          `its database cannot be copied (${fault instanceof Error ? fault.message : "unknown"}); check the disks it is on and goes to`,
        ),
    });
    if (sha256 !== archive.manifest.facts.sha256)
      yield* broken(archive.file, "its database is not the one that the manifest tells of; take another backup");
  });

/** Writes the database into a file that is not there yet (mode 0600), flushed. */
export const unpack = (archive: OpenArchive, target: string, tell: Tell): Effect.Effect<void, BackupFault> =>
  compared(archive, () => copied(archive, target, tell));

/** Reads the database, and keeps nothing. */
export const compareDigest = (archive: OpenArchive, tell: Tell): Effect.Effect<void, BackupFault> =>
  compared(archive, () => readAll(archive, tell));
