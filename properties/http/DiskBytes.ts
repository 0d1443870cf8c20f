/** What a peer's folder really has in it, byte by byte. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { openClient, values } from "../../server/sqlite/Database.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";

/** All its files. */
export const filesIn = (dataDir: string): ReadonlyArray<Buffer> =>
  readdirSync(dataDir, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name))] : [],
  );

/** The last bytes of every row of a table for a key; the peer may run. */
export const rowEnds = (dataDir: string, table: string, keyId: string): Promise<ReadonlyArray<Buffer>> =>
  Effect.gen(function* () {
    const client = yield* openClient(databaseFile(dataDir), "read");
    const connection = yield* client.reserve;
    const sql = `SELECT row FROM working WHERE name = '${table}' AND key LIKE '${keyId}/%'`;
    return (yield* values(connection, sql)).map(([row]) => Buffer.from(row as Uint8Array).subarray(-40));
  }).pipe(Effect.scoped, Effect.runPromise);
