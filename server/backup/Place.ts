/**
 * Puts the database of a backup into a data folder that has none, all or nothing: everything is judged before the
 * database gets its name, and no peer can be started there before it has.
 */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { copyNames } from "../sqlite/Copier.ts";
import { databaseFile, flushNames, holdDirectory, lockFile, markInitialized } from "../sqlite/StoreDirectory.ts";
import { BackupFault, type OpenArchive } from "./Archive.ts";
import { judgeDatabase } from "./Judge.ts";
import { type FreeBytes, freeBytes, spaceFault } from "./Space.ts";
import { type Tell, unpack } from "./Unpack.ts";

const UNFINISHED = "custody.db.restoring";
/**
 * What may be in a folder whose database is gone, of a peer that was killed as well; of these only the unfinished copy
 * is touched. The peer removes or replaces the rest once it is started.
 */
const left = new Set([
  "custody.initialized",
  "custody.lock",
  "operators.log",
  "token-keys.json",
  "token-keys.json.new",
  "audit-sinks.json",
  "audit-sinks.json.new",
  ...copyNames,
  UNFINISHED,
]);

/** Of a file system that is mounted there, and of a doctor that was killed (Disk.ts); neither is in a peer's way. */
const isBeside = (name: string): boolean => name === "lost+found" || /^\.custody-doctor-[0-9a-f]{16}$/.test(name);

const refused = (directory: string, what: string): BackupFault =>
  new BackupFault({ kind: "unusable", message: `${directory}: ${what}` });

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Why nothing may be put into a folder; undefined where it may. */
const folderFault = (directory: string): string | undefined => {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined)
    return exists(dirname(directory)) ? undefined : "the folder above it does not exist; create it or correct --data";
  if (!found.isDirectory()) return "is not a folder; correct --data";
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid)
    return `belongs to user ${found.uid}, and this is user ${uid}; run the command as the user that runs the peer`;
  if (uid !== undefined && (found.mode & 0o077) !== 0) return `may be read by other users; run chmod 700 ${directory}`;
  const names = readdirSync(directory);
  const database = names.find((name) => /^custody\.db(-wal|-shm|-journal)?$/.test(name));
  if (database !== undefined) return `holds ${database} already; stop its peer and move what is in it away first`;
  const stranger = names.find((name) => !left.has(name) && !isBeside(name));
  return stranger === undefined ? undefined : `holds ${stranger}; name a folder that is empty, or not there yet`;
};

/** Holds the folder as a peer does, so that none is started in it meanwhile. */
const held = (directory: string): Effect.Effect<void, BackupFault, Scope> =>
  Effect.gen(function* () {
    yield* Effect.try({
      try: () => {
        if (!existsSync(lockFile(directory))) closeSync(openSync(lockFile(directory), "wx", 0o600));
      },
      catch: () => refused(directory, "cannot be written; give this user write permission"),
    });
    yield* Effect.mapError(holdDirectory(directory), ({ message }) => refused(directory, message));
  });

/** Makes the folder, and removes it again unless the database came into it. */
const made = (directory: string): Effect.Effect<void, BackupFault, Scope> =>
  exists(directory)
    ? Effect.void
    : Effect.asVoid(
        Effect.acquireRelease(
          Effect.try({
            try: () => mkdirSync(directory, { mode: 0o700 }),
            catch: () => refused(directory, "cannot be made; have it made, and given to this user with mode 0700"),
          }),
          () =>
            Effect.sync(() => {
              if (!exists(databaseFile(directory))) rmSync(directory, { recursive: true, force: true });
            }),
        ),
      );

const assertSpace = (directory: string, bytes: number, free: FreeBytes): Effect.Effect<void, BackupFault> =>
  Effect.gen(function* () {
    const fault = yield* spaceFault(exists(directory) ? directory : dirname(directory), bytes, free);
    if (fault !== undefined) return yield* refused(directory, `${fault}, or name a folder on another disk`);
  });

/**
 * Restores a backup whose manifest was judged. What it puts there is marked as a copy, so the peer declares the restore
 * at its first start.
 *
 * @param free how much the disk of a folder has left
 * @returns how many members the backup's cluster has, or is to have
 */
export const placeBackup = (
  archive: OpenArchive,
  folder: string,
  crypto: Crypto,
  tell: Tell,
  free = freeBytes,
): Effect.Effect<number, BackupFault> =>
  Effect.gen(function* () {
    const directory = resolve(folder);
    const fault = folderFault(directory);
    if (fault !== undefined) return yield* refused(directory, fault);
    yield* assertSpace(directory, archive.manifest.facts.bytes, free);
    yield* made(directory);
    yield* held(directory);
    const unfinished = join(directory, UNFINISHED);
    const remove = Effect.sync(() => rmSync(unfinished, { force: true }));
    yield* Effect.acquireRelease(remove, () => remove);
    yield* unpack(archive, unfinished, tell);
    const members = yield* judgeDatabase(archive.file, unfinished, archive.manifest, crypto, () => undefined);
    yield* Effect.try({
      try: () => {
        // First the mark: between the two a peer must not begin anew here.
        markInitialized(directory);
        renameSync(unfinished, databaseFile(directory));
        flushNames(directory);
        flushNames(dirname(directory));
      },
      catch: () => refused(directory, "the database could not be given its name; check the disk"),
    });
    return members;
  }).pipe(Effect.scoped);
