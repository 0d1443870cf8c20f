import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Fiber } from "effect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { devFolder } from "./DevFolder.ts";
import { watchPeers } from "./Watch.ts";

let root: string;
let printed: Array<string>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "custody-watch-"));
  printed = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text, ...rest) => {
    printed.push(String(text));
    for (const each of rest) if (typeof each === "function") each();
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

it("says how a peer ended although the process table knew first that it has", async () => {
  const gone = 999_999_999;
  const known: { ending?: string } = {};
  let looks = 0;
  const peer = {
    peer: { id: 2 },
    process: {
      id: 2,
      pid: gone,
      ending: () => {
        looks += 1;
        return known.ending;
      },
    },
  } as never;
  const report = { peers: [{ id: 2, restart: "custody server" }] } as never;
  const watching = Effect.runFork(watchPeers(devFolder(root), [peer], report, () => Effect.void));
  await vi.waitUntil(() => looks > 0);
  expect(printed).toEqual([]);
  known.ending = "killed by SIGKILL";
  await vi.waitUntil(() => printed.length > 0, { timeout: 10_000 });
  await Effect.runPromise(Fiber.interrupt(watching));
  expect(printed).toEqual([`peer 2 (process ${gone}) killed by SIGKILL\n  to bring it back:\n  custody server\n`]);
});
