import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Either } from "effect";
import { afterEach, expect, it } from "vitest";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import { LiveBackups } from "./LiveBackup.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-live-backup-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// As much of a peer as a backup looks at before it copies anything.
const state = { cluster: { peer: {} }, fitness: { unsealed: true, verifying: false } } as unknown as PeerState;

it("copies nothing onto a disk that has no space for it, and is free for the next call", async () => {
  writeFileSync(join(folder, "custody.db"), "no database");
  let free = 1_000;
  const backups = new LiveBackups({
    directory: folder,
    crypto: cryptoBackend("native").crypto,
    peer: { state, isWhole: true, signer: () => undefined },
    now: () => 0,
    elapsedMillis: () => 0,
    whenErasing: () => () => undefined,
    freeBytes: async () => free,
  });
  const make = () => backups.make(new AbortController().signal);
  expect(await make()).toEqual(
    Either.left({ kind: "full", why: expect.stringMatching(/^a copy takes \d+ bytes, and 1000 are free$/) }),
  );
  // With space it begins, and finds out that this is no database.
  free = 2 ** 40;
  expect(await make()).toEqual(Either.left({ kind: "failed", why: expect.stringContaining("not a SQLite database") }));
  expect(readdirSync(folder)).toEqual(["custody.db"]);
});
