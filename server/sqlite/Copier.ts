/** The main thread's end of the copying thread. */
import { closeSync, openSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Copied, CopyReply } from "./CopyMessage.ts";
import { databaseFile } from "./StoreDirectory.ts";
import { startStoreThread } from "./StoreThread.ts";

/** Why there is no copy. `full`: the disk has no space for it. */
export interface CopyFault {
  readonly kind: "full" | "gone" | "failed";
  readonly why: string;
}

const COPY = "custody.backup";
/** What may be in a data directory of a copy: itself, and what SQLite writes beside it. */
export const copyNames = ["", "-journal", "-wal", "-shm"].map((ending) => `${COPY}${ending}`);

/** The copy while it is made and sent, in the data directory: on the same disk, and with the same protection. */
export const copyFile = (directory: string): string => join(resolve(directory), COPY);

/** Removes a copy, whole or not, of this process or of one that was killed. */
export const removeCopy = (directory: string): void => {
  for (const name of copyNames) rmSync(join(resolve(directory), name), { force: true });
};

/**
 * Copies the database in a directory into {@link copyFile}, which is closed to other users; one copy at a time.
 *
 * @param gone nobody waits for it any more
 * @returns the copy, or why there is none; then nothing of it is left
 */
export const copyDatabase = async (directory: string, gone: AbortSignal): Promise<Copied | CopyFault> => {
  removeCopy(directory);
  const target = copyFile(directory);
  closeSync(openSync(target, "wx", 0o600));
  const worker = startStoreThread("CopyThread", { file: databaseFile(directory), target });
  const done = await new Promise<Copied | CopyFault>((found) => {
    worker.once("message", (reply: CopyReply) =>
      found(
        reply.kind === "copied" ? reply : { kind: reply.reason === "disk-full" ? "full" : "failed", why: reply.why },
      ),
    );
    worker.once("error", (fault) => found({ kind: "failed", why: fault.message }));
    worker.once("exit", () => found({ kind: "failed", why: "the copying thread ended" }));
    const leave = (): void => found({ kind: "gone", why: "the caller went away" });
    if (gone.aborted) leave();
    gone.addEventListener("abort", leave, { once: true });
  });
  await worker.terminate();
  if ("why" in done) removeCopy(directory);
  return done;
};
