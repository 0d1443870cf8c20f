/** The main thread's end of the writing thread. */
import type { Worker } from "node:worker_threads";
import * as Effect from "effect/Effect";
import { type Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { StoreOpenError } from "./StoreOpenError.ts";
import {
  type CommitRequest,
  commitRequest,
  type WriterOptions,
  type WriterReply,
  type WriterRequest,
} from "./WriterMessage.ts";
import { startStoreThread } from "./StoreThread.ts";

type Done = (failure?: StoreFailure) => void;

/** @param why the code of SQLite */
const nextAfter = (why: string): string | undefined =>
  why.startsWith("SQLITE_FULL") ? "make room on the disk, which is full, and start this peer again" : undefined;

/** Told of a commit that erases: whether a share is gone with it, or only its place in the log is wanted. */
export type Erasing = (takesAway: boolean) => void;

/** Hands transactions to the thread and tells their outcome; one at a time. */
export class Writer {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #failed: (failure: StoreFailure) => void;
  readonly #erasureListeners = new Set<Erasing>();
  #underWay: Pick<CommitRequest, "erases" | "takesAway"> = { erases: false, takesAway: false };
  #done: Done | undefined;
  #drained: (() => void) | undefined;
  #failure: StoreFailure | undefined;
  #closed = false;

  /** @param failed told of a failure while no commit is under way */
  constructor(worker: Worker, failed: (failure: StoreFailure) => void) {
    this.#worker = worker;
    this.#failed = failed;
    worker.on("message", (reply: WriterReply) => this.#onReply(reply));
    worker.on("error", (error) => this.#fail(`the writing thread broke: ${error.message}`));
    this.#ended = new Promise((resolve) => {
      worker.on("exit", () => {
        if (!this.#closed) this.#fail("the writing thread ended");
        resolve();
      });
    });
  }

  /** Why nothing may be written or read any more, if so. */
  get failure(): StoreFailure | undefined {
    return this.#failure;
  }

  get committing(): boolean {
    return this.#done !== undefined;
  }

  /** Sends one transaction; `done` is called once, with a failure when its outcome is unknown. */
  commit(changes: ReadonlyArray<Change>, done: Done): void {
    this.#done = done;
    const request = commitRequest(changes);
    this.#underWay = request;
    // Before anything is gone: whoever has a copy of it has none any more when the commit is acknowledged.
    if (request.erases) for (const letGo of this.#erasureListeners) letGo(request.takesAway);
    this.#send(request, [request.bytes.buffer]);
  }

  /**
   * Tells whoever reads the database, or has a copy of it, of each commit that erases, before that begins: the log is
   * emptied for it, which a reader keeps from it, and a copy may not have what is taken away once that is acknowledged.
   * A commit that erases already is told at once.
   *
   * @returns what ends it
   */
  whenErasing(letGo: Erasing): () => void {
    this.#erasureListeners.add(letGo);
    if (this.committing && this.#underWay.erases) letGo(this.#underWay.takesAway);
    return () => void this.#erasureListeners.delete(letGo);
  }

  /** Takes the mark of a copy off the database, behind the commit under way. */
  adopt(): void {
    if (this.#failure === undefined) this.#send({ kind: "adopt" }, []);
  }

  /** Waits for the commit under way, writes the log back, closes the file and ends the thread. */
  readonly close: Effect.Effect<void> = Effect.promise(async () => {
    if (this.committing) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    if (this.#failure === undefined) this.#send({ kind: "close" }, []);
    await this.#ended;
  });

  #send(request: WriterRequest, transferred: ReadonlyArray<ArrayBuffer>): void {
    this.#worker.postMessage(request, [...transferred]);
  }

  #onReply(reply: WriterReply): void {
    if (reply.kind === "committed") this.#settle(undefined);
    if (reply.kind === "failed") this.#fail(`the database could not be written: ${reply.why}`, nextAfter(reply.why));
    if (reply.kind === "lost") this.#lose(reply.file);
    if (reply.kind === "closed") this.#closed = true;
  }

  #fail(why: string, next = "stop this peer and start it again"): void {
    this.#end(new StoreFailure(`${why}; the outcome is unknown, ${next}`));
  }

  #lose(file: string): void {
    this.#end(
      new StoreFailure(
        `${file} was deleted, moved or replaced while this peer ran; put back the file or this peer's newest backup, ` +
          "start it, and declare the restore (custody restore) before unsealing; do not initialize it anew",
      ),
    );
  }

  #end(failure: StoreFailure): void {
    const isFirst = this.#failure === undefined;
    this.#failure ??= failure;
    if (isFirst && !this.committing) this.#failed(this.#failure);
    this.#settle(this.#failure);
  }

  #settle(failure: StoreFailure | undefined): void {
    const done = this.#done;
    this.#done = undefined;
    this.#drained?.();
    done?.(failure);
  }
}

/** Starts the thread and waits until its database is open, durable and of this program's version. */
export const startWriter = (
  options: WriterOptions,
  failed: (failure: StoreFailure) => void,
): Effect.Effect<Writer, StoreOpenError> =>
  Effect.async<Writer, StoreOpenError>((resume) => {
    const worker = startStoreThread("WriterThread", options);
    const broken = (detail: string): void =>
      resume(Effect.fail(new StoreOpenError({ reason: "thread", file: options.file, detail })));
    const onError = (error: Error): void => broken(error.message);
    const onExit = (): void => broken("it ended while opening");
    worker.once("error", onError);
    worker.once("exit", onExit);
    worker.once("message", (reply: WriterReply) => {
      worker.off("error", onError);
      worker.off("exit", onExit);
      if (reply.kind !== "refused") return resume(Effect.succeed(new Writer(worker, failed)));
      const { reason, file, detail } = reply;
      worker.once("exit", () => resume(Effect.fail(new StoreOpenError({ reason, file, detail }))));
    });
    return Effect.promise(() => worker.terminate());
  });
