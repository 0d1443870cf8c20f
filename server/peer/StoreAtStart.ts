/** Reading the store at start: damage there is an operator's matter, not a crash. */
import { Effect } from "effect";
import { InvariantViolation } from "../../core/base/Invariant.ts";
import { StoreFailure } from "../../runtime/ByteStore.ts";
import { IntegrityFailure, UnreadableRow } from "../../runtime/PeerStore.ts";
import { databaseFile } from "../sqlite/StoreDirectory.ts";
import { StoreOpenError } from "../sqlite/StoreOpenError.ts";
import { type StartError, startError } from "./StartError.ts";

/** What is thrown for another reason than the store is thrown on. */
export const readingStore = <A>(read: () => A): Effect.Effect<A, StartError> =>
  Effect.try({
    try: read,
    catch: (fault) => {
      if (fault instanceof UnreadableRow) return startError(`peer.data-dir: ${fault.message}`);
      const known =
        fault instanceof IntegrityFailure || fault instanceof InvariantViolation || fault instanceof StoreFailure;
      if (!known) throw fault;
      return startError(
        `peer.data-dir: the stored rows do not hold (${fault.message}); restore this peer from its backup`,
      );
    },
  });

/** The folder says that a peer was initialized there, but the database has none. */
export const emptied = (directory: string): StartError =>
  startError(new StoreOpenError({ reason: "missing", file: databaseFile(directory) }).message);
