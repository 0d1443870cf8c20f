/** A database that nobody works on, opened to be read: as it is, without a log or any other file beside it. */
import type { Connection } from "@effect/sql/SqlConnection";
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { ByteStore } from "../../runtime/ByteStore.ts";
import { isCopy } from "../sqlite/CopyMark.ts";
import { openClient, openingOf, values } from "../sqlite/Database.ts";
import { places } from "../sqlite/Layout.ts";
import { assertOurs } from "../sqlite/Migrations.ts";
import { askOver, rowReader } from "../sqlite/RowReader.ts";
import { StoreOpenError } from "../sqlite/StoreOpenError.ts";

/**
 * What SQLite finds wrong with the pages of a database; empty where nothing is. A page that the disk does not give is
 * a finding of SQLite's too, but not about the database: it fails here.
 */
export const pageFaults = (
  file: string,
  connection: Pick<Connection, "executeValues">,
): Effect.Effect<ReadonlyArray<string>, StoreOpenError> =>
  Effect.gen(function* () {
    const rows = yield* values(connection, "PRAGMA integrity_check(10)");
    const found = rows.map(([each]) => String(each)).filter((each) => each !== "ok");
    const unread = found.find((each) => /(?:failed|unable) to get (?:the )?page/.test(each));
    if (unread !== undefined) yield* new StoreOpenError({ reason: "unreadable", file, detail: unread });
    return found;
  }).pipe((finding) => openingOf(file, finding));

export interface CopyStore {
  readonly bytes: ByteStore;
  readonly isMarked: boolean;
  /** See {@link pageFaults}; reads all of it. */
  readonly faults: Effect.Effect<ReadonlyArray<string>, StoreOpenError>;
}

/** Opens the database of a peer; fails where it is of another program, of a newer one, or lacks a table. */
export const openCopy = (file: string): Effect.Effect<CopyStore, StoreOpenError, Scope> =>
  Effect.gen(function* () {
    const client = yield* openClient(file, "read");
    yield* assertOurs(file, client, places);
    const connection = yield* client.reserve;
    return {
      bytes: {
        ...rowReader(askOver(connection)),
        commit: () => {
          throw new TypeError("a copy is only read");
        },
      },
      isMarked: yield* isCopy(file, connection),
      faults: pageFaults(file, connection),
    };
  }).pipe((opening) => openingOf(file, opening));
