/**
 * The mark that tells a backup's database from the one a peer works on: the number that SQLite's header leaves to
 * programs (`user_version`). A peer that finds it speaks from an old disk, however the file came there, and declares a
 * restore; once that is stored, the mark is taken off.
 */
import type { Connection } from "@effect/sql/SqlConnection";
import * as Effect from "effect/Effect";
import { openingOf, value } from "./Database.ts";
import type { StoreOpenError } from "./StoreOpenError.ts";

/** "Copy". */
const numbers = { own: 0, copy: 0x436f7079 } as const;

/** The SQL that marks a database. */
export const markedAs = (what: keyof typeof numbers): string => `PRAGMA user_version = ${numbers[what]}`;

/** Whether a database is marked as a copy. */
export const isCopy = (
  file: string,
  connection: Pick<Connection, "executeValues">,
): Effect.Effect<boolean, StoreOpenError> =>
  openingOf(
    file,
    Effect.map(value(connection, "PRAGMA user_version"), (found) => found === numbers.copy),
  );
