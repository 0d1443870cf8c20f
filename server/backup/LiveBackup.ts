/**
 * Backups of the peer that runs here: one at a time, copied on another thread into the data folder, signed, and sent
 * as fast as their reader takes them. The copy is removed with the last byte, when the reader goes away, or when a share
 * of a key is erased, which the copy may still have.
 */
import { statSync } from "node:fs";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Effect, Either } from "effect";
import { type Rejection, rejection } from "../../core/base/Rejection.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import { beingVerified } from "../../core/protocol/Unavailable.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { packageVersion } from "../config/Version.ts";
import { copyDatabase, copyFile, type CopyFault, removeCopy } from "../sqlite/Copier.ts";
import type { Copied } from "../sqlite/CopyMessage.ts";
import { databaseFile } from "../sqlite/StoreDirectory.ts";
import type { Erasing } from "../sqlite/Writer.ts";
import { archiveBytes, archiveOf } from "./Archive.ts";
import { openCopy } from "./CopyStore.ts";
import { storedFacts } from "./Facts.ts";
import { BACKUP_TAG, type BackupFacts, factsCodec, type Manifest } from "./Manifest.ts";
import { type FreeBytes, freeBytes, SPARE_BYTES } from "./Space.ts";

const VERSION = packageVersion(fileURLToPath(import.meta.url));
/** A reader slower than this holds the copy's space for too long; its first pauses do not count. */
const SLOWEST_BYTES_PER_SECOND = 32 * 1024;
const GRACE_MILLIS = 60_000;
const CHECK_MILLIS = 1_000;

export interface LiveBackupPorts {
  /** The data directory. */
  readonly directory: string;
  readonly crypto: Crypto;
  readonly peer: {
    readonly state: PeerState;
    /** Whether every stored row was verified. */
    readonly isWhole: boolean;
    /** The identity key; undefined while the peer is sealed. */
    readonly signer: () => Signer | undefined;
  };
  /** Unix milliseconds. */
  readonly now: () => number;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
  /** Subscribes to commits that erase: told before each, at once of one under way; returns what ends that. */
  readonly whenErasing: (letGo: Erasing) => () => void;
  /** Asks the disk, unless a test says something else. */
  readonly freeBytes?: FreeBytes;
}

/** `erasing`: the copy stood in the way of the log being emptied, or would still have a share that was erased. */
export type BackupRefusal = Rejection | CopyFault | { readonly kind: "busy" | "erasing" };

/** A backup on its way to one reader. */
export interface LiveBackup {
  readonly facts: BackupFacts;
  readonly bytes: number;
  readonly stream: Readable;
  /** `left`: the reader went away, or was too slow. Resolves when the copy is removed. */
  readonly ending: Promise<"whole" | "erasing" | "left">;
}

/** A backup as long as its copy is there. */
interface UnderWay {
  /** Aborted when something is erased; the copy is gone then. */
  readonly erasing: AbortSignal;
  /** The copy is made, and nothing reads the database for it any more. */
  readonly copied: () => void;
  /** Removes the copy, and lets the next backup begin. */
  readonly end: () => void;
}

const refusalOf = ({ state: { cluster, fitness }, isWhole }: LiveBackupPorts["peer"]): Rejection | undefined => {
  if (cluster.peer === undefined)
    return rejection("NOT_INITIALIZED", "This peer is not initialized.", "There is nothing to back up yet.");
  if (fitness.integrityFault !== undefined)
    return rejection(
      "INTEGRITY_FAILURE",
      "The stored records of this peer do not hold.",
      "Keep the backups there are, and restore this peer from the newest.",
    );
  if (fitness.verifying) return beingVerified;
  if (!fitness.unsealed)
    return rejection("SEALED", "This peer is sealed, and a backup is signed with its key.", "Unseal it first.");
  // A backup of rows that nobody has looked at could be the one that is needed when they turn out not to hold.
  if (!isWhole) return beingVerified;
  return undefined;
};

export class LiveBackups {
  readonly #ports: LiveBackupPorts;
  #isBusy = false;

  /** Removes what a process that was killed has left. */
  constructor(ports: LiveBackupPorts) {
    this.#ports = ports;
    removeCopy(ports.directory);
  }

  /**
   * Makes a backup; its stream must be read or destroyed.
   *
   * @param gone nobody waits for it any more
   */
  async make(gone: AbortSignal): Promise<Either.Either<LiveBackup, BackupRefusal>> {
    if (this.#isBusy) return Either.left({ kind: "busy" });
    const refusal = refusalOf(this.#ports.peer);
    if (refusal !== undefined) return Either.left(refusal);
    const underWay = this.#begin();
    const { erasing, copied, end } = underWay;
    try {
      const manifest = await this.#manifest(AbortSignal.any([gone, erasing]), copied);
      if (Either.isRight(manifest) && !erasing.aborted) return Either.right(this.#sending(manifest.right, underWay));
      end();
      return Either.left(Either.isLeft(manifest) && !erasing.aborted ? manifest.left : { kind: "erasing" });
    } catch (fault) {
      end();
      // Whoever was reading the copy finds it gone.
      if (erasing.aborted) return Either.left({ kind: "erasing" });
      throw fault;
    }
  }

  #begin(): UnderWay {
    const { directory, whenErasing } = this.#ports;
    this.#isBusy = true;
    const erasing = new AbortController();
    let isCopying = true;
    const forget = whenErasing((takesAway) => {
      // Once it is made, a copy is in the way of no log.
      if (!isCopying && !takesAway) return;
      erasing.abort();
      // Now and not soon: the erasure may be acknowledged next.
      removeCopy(directory);
    });
    const end = (): void => {
      forget();
      removeCopy(directory);
      this.#isBusy = false;
    };
    return { erasing: erasing.signal, copied: () => void (isCopying = false), end };
  }

  async #manifest(gone: AbortSignal, done: () => void): Promise<Either.Either<Manifest, BackupRefusal>> {
    const { directory, peer, now, freeBytes: ask = freeBytes } = this.#ports;
    // Not later: whoever deletes the backups from before an erasure goes by this.
    const madeAt = now();
    const needed = this.#needed();
    const free = await ask(directory);
    if (free < needed) return Either.left({ kind: "full", why: `a copy takes ${needed} bytes, and ${free} are free` });
    const copied = await copyDatabase(directory, gone);
    if (!("sha256" in copied)) return Either.left(copied);
    done();
    const facts: BackupFacts = { ...(await this.#facts()), madeAt, program: VERSION, ...digested(copied) };
    const signature = peer.signer()?.sign(BACKUP_TAG, factsCodec, facts);
    if (signature !== undefined) return Either.right({ facts, signature });
    return Either.left(rejection("SEALED", "This peer was sealed meanwhile.", "Unseal it and repeat the call."));
  }

  #needed(): number {
    const file = databaseFile(this.#ports.directory);
    const sizes = [file, `${file}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, SPARE_BYTES);
  }

  /** Of the copy itself, not of the peer, which goes on meanwhile. */
  #facts() {
    const { directory, crypto } = this.#ports;
    return Effect.runPromise(
      Effect.scoped(
        Effect.map(openCopy(copyFile(directory)), ({ bytes }) => {
          const facts = storedFacts(new SealedStore(bytes, crypto), crypto);
          if (facts === undefined) throw new Error("the copy of an initialized peer has no peer in it");
          return facts;
        }),
      ),
    );
  }

  #sending(manifest: Manifest, { erasing, end }: UnderWay): LiveBackup {
    const bytes = archiveBytes(manifest);
    const { elapsedMillis } = this.#ports;
    const startedAt = elapsedMillis();
    let read = 0;
    const pieces = archiveOf(manifest, copyFile(this.#ports.directory));
    const counted = async function* () {
      for await (const piece of pieces) {
        read += piece.length;
        yield piece;
      }
    };
    const stream = Readable.from(counted(), { objectMode: false });
    const watch = setInterval(() => {
      const millis = elapsedMillis() - startedAt - GRACE_MILLIS;
      if (read < (millis / 1000) * SLOWEST_BYTES_PER_SECOND) stream.destroy();
    }, CHECK_MILLIS).unref();
    erasing.addEventListener("abort", () => void stream.destroy(), { once: true });
    const ending = new Promise<Awaited<LiveBackup["ending"]>>((done) => {
      stream.once("close", () => {
        clearInterval(watch);
        end();
        done(stream.readableEnded ? "whole" : erasing.aborted ? "erasing" : "left");
      });
    });
    stream.on("error", () => undefined);
    return { facts: manifest.facts, bytes, stream, ending };
  }
}

// The brand is the length: 32 bytes.
const digested = ({ bytes, sha256 }: Copied) => ({ bytes, sha256: sha256 as Digest });
