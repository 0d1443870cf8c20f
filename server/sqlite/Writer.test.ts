import { Worker } from "node:worker_threads";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { type Change, StoreFailure } from "../../runtime/ByteStore.ts";
import { Writer } from "./Writer.ts";

/** A writer over a thread that runs `body` for each message it gets. */
const writerOver = (body: string): Writer => {
  const code = `const { parentPort } = require("node:worker_threads"); parentPort.on("message", (message) => { ${body} });`;
  return new Writer(new Worker(code, { eval: true }), () => undefined);
};

const change: Change = { op: "remove", table: "keys", key: "a" };

const commit = (writer: Writer): Promise<StoreFailure | undefined> =>
  new Promise((resolve) => {
    writer.commit([change], resolve);
  });

describe("the writer", () => {
  it.each([
    ["ends", "process.exit(0)", "the writing thread ended"],
    ["breaks", "throw new Error('broken on purpose')", "the writing thread broke: broken on purpose"],
    ["reports a failure", "parentPort.postMessage({ kind: 'failed', why: 'SQLITE_IOERR' })", "SQLITE_IOERR"],
  ])("fails the commit under way when the thread %s, and stays failed", async (_, body, words) => {
    const writer = writerOver(`${body}; parentPort.close();`);
    const failure = await commit(writer);
    expect(failure).toBeInstanceOf(StoreFailure);
    expect(failure?.message).toContain(words);
    expect(failure?.message).toContain("stop this peer and start it again");
    expect(writer.failure).toBe(failure);
    expect(writer.committing).toBe(false);
    await Effect.runPromise(writer.close);
    expect(writer.failure).toBe(failure);
  });

  it("says what to do about a full disk", async () => {
    const writer = writerOver("parentPort.postMessage({ kind: 'failed', why: 'SQLITE_FULL' }); parentPort.close();");
    expect((await commit(writer))?.message).toBe(
      "the database could not be written: SQLITE_FULL; the outcome is unknown, make room on the disk, which is full, and start this peer again",
    );
    await Effect.runPromise(writer.close);
  });

  it("fails between commits too", async () => {
    const writer = writerOver("parentPort.postMessage({ kind: 'committed' }); parentPort.close();");
    expect(await commit(writer)).toBeUndefined();
    await Effect.runPromise(writer.close);
    expect(writer.failure?.message).toContain("the writing thread ended");
  });

  it("lets the commit under way finish before it closes", async () => {
    const said: Array<string> = [];
    const writer = writerOver(
      "if (message.kind === 'commit') parentPort.postMessage({ kind: 'committed' });" +
        "else { parentPort.postMessage({ kind: 'closed' }); parentPort.close(); }",
    );
    const done = commit(writer).then((failure) => said.push(`committed ${failure}`));
    await Effect.runPromise(writer.close);
    said.push("closed");
    await done;
    expect(said).toEqual(["committed undefined", "closed"]);
    expect(writer.failure).toBeUndefined();
  });
});
