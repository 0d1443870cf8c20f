/** Backups that nobody gets, or nobody puts back, for want of haste, room or ownership; and those beside them that go. */
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openArchive } from "../../server/backup/Archive.ts";
import { judgeArchive } from "../../server/backup/Judge.ts";
import { type LiveBackup, type LiveBackupPorts, LiveBackups } from "../../server/backup/LiveBackup.ts";
import type { Erasing } from "../../server/sqlite/Writer.ts";
import { placeBackup } from "../../server/backup/Place.ts";
import { SPARE_BYTES } from "../../server/backup/Space.ts";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { runInProcess } from "../cli/InProcess.ts";
import { bootstrapSecret, registration, ServerCluster } from "./ServerCluster.ts";

const { crypto } = cryptoBackend("native");
const patience = { timeout: 60_000 };

let cluster: ServerCluster;
let file: string;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  for (const id of ["alice", "bob"]) expect((await cluster.register(1, registration(id))).status).toBe(201);
  file = join(cluster.folder, "whole.tar");
  expect(await backup(cluster, file)).toMatchObject({ code: 0, stderr: "" });
}, patience.timeout);
afterAll(() => cluster.close());

const backup = (of: ServerCluster, to: string) =>
  runInProcess(["backup", "--url", of.server(1).url, "--to", to], { CUSTODY_TOKEN: of.token });

describe("a reader of a backup", () => {
  let elapsed = 0;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  const made = (backups: LiveBackups): Promise<LiveBackup> =>
    backups.make(new AbortController().signal).then(Either.getOrThrow);
  /** Lets time pass, and the pace be looked at. */
  const pass = (millis: number): void => {
    elapsed += millis;
    vi.advanceTimersByTime(1_000);
  };
  const live = (): LiveBackups => {
    const { dataDir } = cluster.member(1);
    const { peer } = cluster.server(1);
    const whenErasing = () => () => undefined;
    const elapsedMillis = (): number => elapsed;
    return new LiveBackups({ directory: dataDir, crypto, peer, now: Date.now, elapsedMillis, whenErasing });
  };
  const copy = (): boolean => existsSync(join(cluster.member(1).dataDir, "custody.backup"));

  it("who takes nothing for a minute is cut off, which makes room for the next one", async () => {
    const backups = live();
    const { stream, ending } = await made(backups);
    pass(60_000);
    expect([stream.destroyed, copy()]).toEqual([false, true]);
    expect(await backups.make(new AbortController().signal)).toEqual(Either.left({ kind: "busy" }));
    pass(1);
    expect(stream.destroyed).toBe(true);
    expect([await ending, copy()]).toEqual(["left", false]);

    const next = await made(backups);
    let read = 0;
    for await (const piece of next.stream) read += Uint8Array.from(piece).length;
    expect([await next.ending, read, copy()]).toEqual(["whole", next.bytes, false]);
  });

  it("who goes on at more than 32 KiB a second is served to the end, and a much slower one is not", async () => {
    for (const [bytesPerSecond, isServed] of [
      [33 * 1024, true],
      [8 * 1024, false],
    ] as const) {
      const { stream, bytes, ending } = await made(live());
      // A minute at the beginning is forgiven.
      pass(60_000);
      let read = 0;
      const pieces = stream.iterator({ destroyOnReturn: true });
      try {
        for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
          read += next.value.length;
          pass((1_000 * next.value.length) / bytesPerSecond);
        }
      } catch {
        // Cut off.
      }
      expect([isServed, read === bytes]).toEqual([isServed, isServed]);
      expect(await ending).toBe(isServed ? "whole" : "left");
    }
  });
});

describe("an erasure while there is a copy", () => {
  const copy = (): boolean => existsSync(join(cluster.member(1).dataDir, "custody.backup"));
  const gone = (): AbortSignal => new AbortController().signal;
  const erasures = new Set<Erasing>();
  const erase = (takesAway = true): void => erasures.forEach((letGo) => letGo(takesAway));
  const whenErasing = (letGo: Erasing) => {
    erasures.add(letGo);
    return () => void erasures.delete(letGo);
  };
  const live = (more: Partial<LiveBackupPorts> = {}): LiveBackups => {
    const { dataDir } = cluster.member(1);
    const { peer } = cluster.server(1);
    const clocks = { now: Date.now, elapsedMillis: () => 0 };
    return new LiveBackups({ directory: dataDir, crypto, peer, ...clocks, whenErasing, ...more });
  };
  const erasing = Either.left({ kind: "erasing" });

  it("removes it at once wherever the backup is, and nothing more is sent of it", async () => {
    const { peer } = cluster.server(1);
    const found: Array<readonly [before: boolean, after: boolean]> = [];
    const erasingAt = (): void => {
      const before = copy();
      erase();
      found.push([before, copy()]);
    };
    const signer = () => {
      erasingAt();
      return peer.signer();
    };
    const { state, isWhole } = peer;
    // Copied and hashed, and about to be signed.
    expect(await live({ peer: { state, isWhole, signer } }).make(gone())).toEqual(erasing);
    const backups = live();
    const sent = Either.getOrThrow(await backups.make(gone()));
    const pieces = sent.stream.iterator();
    expect((await pieces.next()).done).toBe(false);
    erasingAt();
    expect([sent.stream.destroyed, await sent.ending]).toEqual([true, "erasing"]);
    expect(found).toEqual([
      [true, false],
      [true, false],
    ]);
    // A key is made, whose pending share goes on as its share, or the vault is replaced.
    const beside = Either.getOrThrow(await backups.make(gone()));
    erase(false);
    expect([beside.stream.destroyed, copy()]).toEqual([false, true]);
    beside.stream.destroy();
    await beside.ending;
    const next = Either.getOrThrow(await backups.make(gone()));
    next.stream.destroy();
    expect([await next.ending, erasures.size, copy()]).toEqual(["left", 0, false]);
  });

  it("that is under way when the backup is asked for keeps it from being made", async () => {
    const told = (letGo: Erasing) => {
      letGo(false);
      return () => undefined;
    };
    expect([await live({ whenErasing: told }).make(gone()), copy()]).toEqual([erasing, false]);
  });

  it("is later than the time that the manifest tells, which is from before the copy", async () => {
    const made = Either.getOrThrow(await live({ now: () => (copy() ? 2 : 1) }).make(gone()));
    made.stream.destroy();
    expect([made.facts.madeAt, await made.ending]).toEqual([1, "left"]);
  });
});

describe("a folder for a backup", () => {
  const restored = (folder: string) => runInProcess(["restore", "--from", file, "--data", folder], {});
  const isRoot = process.getuid?.() === 0;

  it("of another user takes none, and one of this user does", async () => {
    const foreign = isRoot ? join(cluster.folder, "foreign") : "/";
    if (isRoot) {
      mkdirSync(foreign, { mode: 0o700 });
      chownSync(foreign, 4_321, 4_321);
    }
    expect(await restored(foreign)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(
        /belongs to user \d+, and this is user \d+; run the command as the user that runs the peer/,
      ),
    });
    if (isRoot) expect(readdirSync(foreign)).toEqual([]);
    const own = join(cluster.folder, "own");
    mkdirSync(own, { mode: 0o700 });
    expect(await restored(own)).toMatchObject({ code: 0, stderr: "" });
  });

  it("that this user cannot make is to be made for it, not the folder above opened to it", async () => {
    const placed = Effect.gen(function* () {
      const archive = yield* openArchive(file);
      yield* placeBackup(
        archive,
        "/proc/custody-data",
        crypto,
        () => undefined,
        () => Promise.resolve(Number.POSITIVE_INFINITY),
      );
    }).pipe(Effect.scoped, Effect.either, Effect.runPromise);
    expect(await placed).toMatchObject({
      left: { message: "/proc/custody-data: cannot be made; have it made, and given to this user with mode 0700" },
    });
  });

  it("takes one beside what a peer that was killed has left there", async () => {
    const folder = join(cluster.folder, "killed");
    mkdirSync(folder, { mode: 0o700 });
    const names = ["custody.backup", "custody.backup-journal", "token-keys.json.new", "audit-sinks.json.new"];
    for (const name of names) writeFileSync(join(folder, name), "half");
    expect(await restored(folder)).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([...names, "custody.db"]));
  });

  it("takes one where a disk is mounted, and beside what a doctor that was killed has left; beside nothing else", async () => {
    const folder = join(cluster.folder, "mounted");
    mkdirSync(join(folder, "lost+found"), { recursive: true, mode: 0o700 });
    const probe = ".custody-doctor-0123456789abcdef";
    writeFileSync(join(folder, probe), "half");
    for (const other of ["lost+found.old", `${probe}0`, ".custody-doctor-", "notes.txt"]) {
      writeFileSync(join(folder, other), "mine");
      expect(await restored(folder)).toMatchObject({ code: 2, stderr: expect.stringContaining(`holds ${other};`) });
      rmSync(join(folder, other));
    }
    expect(await restored(folder)).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["lost+found", probe, "custody.db"]));
  });

  it("on a disk without room for it takes none, and nothing is left behind; with room it does", async () => {
    const folder = join(cluster.folder, "tight");
    const placed = (missing: number) =>
      Effect.gen(function* () {
        const archive = yield* openArchive(file);
        const free = archive.manifest.facts.bytes + SPARE_BYTES - missing;
        yield* placeBackup(
          archive,
          folder,
          crypto,
          () => undefined,
          async (asked) => {
            // Not there yet: its disk is that of the folder above it.
            expect(asked).toBe(cluster.folder);
            return free;
          },
        );
      }).pipe(Effect.scoped, Effect.either, Effect.runPromise);
    expect(await placed(1)).toMatchObject({
      left: {
        kind: "unusable",
        message: expect.stringMatching(/its disk has \d+ bytes free, and \d+ are needed; free the difference/),
      },
    });
    expect(existsSync(folder)).toBe(false);
    expect(Either.isRight(await placed(0))).toBe(true);
    expect(existsSync(join(folder, "custody.db"))).toBe(true);
  });
});

describe("a disk without room", () => {
  const inFolder = (): ReadonlyArray<string> => readdirSync(cluster.folder).toSorted();

  it("for what a peer would send is left as it is, and its numbers are told", async () => {
    const bytes = 2 ** 50;
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/x-tar", "content-length": bytes }).write("manifest");
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    try {
      const before = inFolder();
      const url = `http://127.0.0.1:${Object(server.address()).port}`;
      const args = ["backup", "--url", url, "--to", join(cluster.folder, "huge.tar")];
      const refused = await runInProcess(args, { CUSTODY_TOKEN: cluster.token });
      const needed = `and ${bytes + SPARE_BYTES} are needed; free the difference, or name a file on another disk`;
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toMatch(
        new RegExp(`--to: .*huge\\.tar cannot be written: its disk has \\d+ bytes free, ${needed}`),
      );
      expect(inFolder()).toEqual(before);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("for a database that is to be judged is left as it is, and with room it is judged", async () => {
    const scratch = join(cluster.folder, "scratch");
    mkdirSync(scratch, { mode: 0o700 });
    const judged = (missing: number) =>
      Effect.gen(function* () {
        const archive = yield* openArchive(file);
        const free = archive.manifest.facts.bytes + SPARE_BYTES - missing;
        yield* judgeArchive(
          archive,
          scratch,
          crypto,
          () => undefined,
          async () => free,
        );
      }).pipe(Effect.scoped, Effect.either, Effect.runPromise);
    const refused = await judged(1);
    expect(refused).toMatchObject({ left: { kind: "unusable" } });
    expect(Either.isLeft(refused) && refused.left.message).toMatch(
      /whole\.tar: it cannot be unpacked in .*: its disk has \d+ bytes free, and \d+ are needed; free the difference, or name another disk with --scratch$/,
    );
    expect(readdirSync(scratch)).toEqual([]);
    expect(await judged(0)).toEqual(Either.void);
  });
});

describe("a peer before the founding", () => {
  it(
    "backs up what it has once it is unsealed, which is of no cluster, and is founded from there when it is put back",
    async () => {
      const young = await ServerCluster.start(2);
      try {
        const early = join(young.folder, "early.tar");
        expect(await backup(young, early)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("NOT_INITIALIZED"),
        });
        await young.initialize(1);
        expect(await backup(young, early)).toMatchObject({ stderr: expect.stringContaining("SEALED") });
        expect(existsSync(early)).toBe(false);
        await young.unseal(1);
        expect(await backup(young, early)).toMatchObject({ code: 0, stderr: "" });
        const verified = await runInProcess(["backup", "verify", early], {});
        expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining("peer 1 of no cluster yet") });
        const other = await runInProcess(["backup", "verify", early, "--topology", "0".repeat(64)], {});
        expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("its topology is not pinned yet") });

        await young.stop(1);
        rmSync(young.member(1).dataDir, { recursive: true });
        const args = ["restore", "--from", early, "--config", young.member(1).configFile];
        expect(await runInProcess(args, {})).toMatchObject({
          code: 0,
          stderr: "",
          stdout: expect.stringContaining("It is from before the founding:"),
        });
        await young.run(1, { CUSTODY_BOOTSTRAP_SECRET: bootstrapSecret });
        await young.unseal(1);
        await young.initialize(2);
        await young.unseal(2);
        await young.ready(1);
        expect((await young.register(2, registration("alice"))).status).toBe(201);
        expect(young.halted).toEqual([]);
      } finally {
        await young.close();
      }
    },
    patience.timeout,
  );
});
