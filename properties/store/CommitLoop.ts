/**
 * A process that commits numbered transactions in several directories at once, until it is killed or has made as many
 * in each as its first argument says; the other arguments are the directories. It waits for a line on standard input,
 * then writes {@link CommitReport} lines to standard output.
 */
import { readSync, writeSync } from "node:fs";
import * as Effect from "effect/Effect";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import type { CommitReport } from "./CommitReport.ts";
import { differences, lastTransaction, numberedTransaction } from "./NumberedTransactions.ts";

const [count, ...directories] = process.argv.slice(2);

const say = (report: CommitReport): void => {
  writeSync(1, `${JSON.stringify(report)}\n`);
};

const commitLoop = (directory: string) =>
  Effect.gen(function* () {
    const store = yield* openSqliteByteStore({ directory });
    const last = lastTransaction(store);
    say({ kind: "opened", directory, last, differences: differences(store, last) });
    const commitFrom = (number: number): void => {
      if (number > last + Number(count)) return void Effect.runFork(store.close);
      store.commit(numberedTransaction(number), (failure) => {
        if (failure !== undefined) throw failure;
        say({ kind: "acknowledged", directory, number });
        commitFrom(number + 1);
      });
    };
    commitFrom(last + 1);
  });

readSync(0, new Uint8Array(1));
for (const directory of directories) {
  say({ kind: "opening", directory });
  void Effect.runPromise(commitLoop(directory));
}
