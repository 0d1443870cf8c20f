/** A database that nobody works on, opened to be read: as it is, without a log or any other file beside it. */
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { ByteStore } from "../../runtime/ByteStore.ts";
import { isCopy } from "../sqlite/CopyMark.ts";
import { openClient, openingOf, values } from "../sqlite/Database.ts";
import { places } from "../sqlite/Layout.ts";
import { assertOurs } from "../sqlite/Migrations.ts";
import { askOver, rowReader } from "../sqlite/RowReader.ts";
import type { StoreOpenError } from "../sqlite/StoreOpenError.ts";

export interface CopyStore {
  readonly bytes: ByteStore;
  readonly isMarked: boolean;
  /** What SQLite finds wrong with its pages; empty where nothing is. Reads all of it. */
  readonly faults: Effect.Effect<ReadonlyArray<string>, StoreOpenError>;
}

/** Opens the database of a peer; fails where it is of another program, of a newer one, or lacks a table. */
export const openCopy = (file: string): Effect.Effect<CopyStore, StoreOpenError, Scope> =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "read");
    yield* assertOurs(file, client, places);
    const connection = yield* client.reserve;
    const found = Effect.map(values(connection, "PRAGMA integrity_check(10)"), (rows) =>
      rows.map(([each]) => String(each)).filter((each) => each !== "ok"),
    );
    return {
      bytes: {
        ...rowReader(askOver(connection)),
        commit: () => {
          throw new TypeError("a copy is only read");
        },
      },
      isMarked: yield* isCopy(file, connection),
      faults: openingOf(file, found),
    };
  }).pipe((opening) => openingOf(file, opening));
