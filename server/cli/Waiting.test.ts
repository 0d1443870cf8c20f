import { Effect } from "effect";
import { expect, it, vi } from "vitest";
import { whileWaiting } from "./Waiting.ts";

const streamOf = (isTTY: boolean, write: (text: string) => boolean): NodeJS.WriteStream & { fd: 2 } =>
  Object.assign(Object.create(process.stderr), { isTTY, write });

it("counts seconds on a terminal, and leaves nothing behind", async () => {
  const said: Array<string> = [];
  vi.useFakeTimers();
  const waiting = Effect.runPromise(
    whileWaiting(
      "all members make the key",
      Effect.promise(() => new Promise((done) => void setTimeout(() => done("made"), 2_500))),
      streamOf(true, (text) => said.push(text) > 0),
    ),
  );
  await vi.advanceTimersByTimeAsync(2_500);
  expect(await waiting).toBe("made");
  vi.useRealTimers();
  const line = (seconds: number): string => `\r\u001b[2Kall members make the key: ${seconds} s`;
  expect(said).toEqual([line(0), line(1), line(2), "\r\u001b[2K"]);
});

it("says nothing elsewhere, and passes a failure on", async () => {
  const said: Array<string> = [];
  const failed = whileWaiting(
    "it",
    Effect.fail("no"),
    streamOf(false, (text) => said.push(text) > 0),
  );
  expect(await Effect.runPromise(Effect.flip(failed))).toBe("no");
  expect(said).toEqual([]);
});
