/** Files of every version open in this one (docs/decisions/0027-versions.md). */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { hexToBytes } from "@noble/hashes/utils.js";
import { Effect, Either } from "effect";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { decode, versionOf } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import type { Codec } from "../../core/codec/Codec.ts";
import { NEWEST } from "../../core/codec/Versioned.ts";
import { commands } from "../../core/commands/Commands.ts";
import { sessionDigest } from "../../core/commands/enrollPasskey/Session.ts";
import { messagesIn } from "../../core/Message.ts";
import { proposalId } from "../../core/protocol/Proposal.ts";
import { batchHash } from "../../core/protocol/Statement.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { isSpoken } from "../../core/protocol/Versions.ts";
import { rowCodec, type Rows, type TableName, tableNames } from "../../core/Tables.ts";
import type { ByteStore } from "../../runtime/ByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { openCopy } from "../../server/backup/CopyStore.ts";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { bringLaterKeys } from "../../server/peer/LaterKeys.ts";
import { shamirProvider } from "../../server/seal/ShamirSeal.ts";
import { openSqliteByteStore } from "../../server/sqlite/SqliteByteStore.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { parseTape } from "../../sim/tape/TapeFormat.ts";
import { play } from "../../sim/tape/TapeRun.ts";
import { enrollingElsewhere } from "../http/Enrollment.ts";
import { registration, ServerCluster } from "../http/ServerCluster.ts";
import { NEXT_VERSION } from "../modules/notes/Note.ts";
import { compositionWithNotes } from "../modules/notes/WithNotes.ts";
import { copyTo, keep, keptPeer, keptSamples, keptTape } from "./Keeping.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const folderOf = (version: number): string => join(here, String(version));
const versions = Array.from({ length: NEWEST }, (_, before) => before + 1);

beforeAll(async () => {
  if (env["KEEP"] !== undefined && !existsSync(folderOf(NEWEST))) await keep(folderOf(NEWEST));
});

it("is kept of every version there has been (`npm run keep` keeps what this one writes)", () => {
  const kept = readdirSync(here, { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? [each.name] : []));
  expect(kept.map(Number).toSorted((left, right) => left - right)).toEqual(versions);
});

const opened: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A peer alone on a copy of a data folder. */
const clusterOn = async (folder: string): Promise<ServerCluster> => {
  const cluster = await ServerCluster.start(1, enrollingElsewhere());
  opened.push(() => cluster.close());
  await cluster.stop(1);
  copyTo(folder, cluster.member(1).dataDir);
  await cluster.run(1);
  return cluster;
};

/** The integrity layer's own rows are in every database. */
const ofRows: ReadonlyArray<TableName> = tableNames.filter(
  (table) => table !== "head" && table !== "seals" && table !== "ranges",
);

const OTHER = /was written by another version of this program \((value: found )?version/;

describe.each(versions)("version %d", (version) => {
  const folder = folderOf(version);

  it("has written a database that a peer opens, verifies, shows and goes on with", async () => {
    const { shares, reads } = keptPeer(folder);
    const cluster = await clusterOn(folder);
    cluster.member(1).shares = shares;
    expect((await cluster.unseal(1)).json).toMatchObject({ state: "UNSEALED" });
    await cluster.ready(1);
    for (const { ref, text } of reads) expect((await cluster.read(1, ref)).text).toBe(text);
    const { json } = await cluster.get(1, "/v1/custody/system/status");
    expect(json["detail"]).toMatchObject({ approvers: reads.length, integrityKeyVersion: 2 });
    expect(Object(json["detail"])["integrityFault"]).toBeUndefined();
    expect((await cluster.register(1, registration("of-now"))).status).toBe(201);
    const listed = await vi.waitFor(async () => {
      const { status, json: page } = await cluster.get(
        1,
        "/v1/custody/approvers?type=SIGNATURE&metadata.with+space=%C3%BC",
      );
      return status === 200 ? page : expect.fail(String(page["code"]));
    });
    expect(listed["items"]).toEqual([JSON.parse(reads[0]?.text ?? "")]);
    expect((await cluster.get(1, "/v1/custody/approvers")).json["items"]).toHaveLength(reads.length + 1);
    await cluster.stop(1);
    await cluster.run(1);
    expect((await cluster.unseal(1)).json).toMatchObject({ state: "UNSEALED" });
  });

  it("has written rows that hold after a change of format too, and that it does not find damaged", async () => {
    const directory = mkdtempSync(join(tmpdir(), "custody-kept-"));
    opened.push(() => rmSync(directory, { recursive: true }));
    copyTo(folder, directory);
    const bytes = await Effect.runPromise(openSqliteByteStore({ directory }));
    opened.push(() => Effect.runPromise(Effect.ignore(bytes.close)));
    const { crypto, keysOf } = cryptoBackend("native");
    const { tables } = compositionWithNotes({ lowest: NEWEST, highest: NEXT_VERSION });
    const store = new SealedStore(bytes, crypto, tables);
    const vault = store.get("vault", "self")?.blob ?? expect.fail("it has keys");
    const session = Either.getOrThrow(shamirProvider({ shares: 3, threshold: 2 }, () => expect.fail()).unseal(vault));
    const [first = "", second = ""] = keptPeer(folder).shares;
    await session.submit(first);
    const step = Either.getOrThrow(await session.submit(second));
    if (step._tag !== "Unsealed") return expect.fail("these are its shares");
    const keys = keysOf(step.material);
    store.useKey(keys.integrity);
    expect(bringLaterKeys(store, keys)).toBeUndefined();
    expect(store.verifyAll()).toBeUndefined();
    const [owned] = store.scan("keys", "", 1);
    expect(owned?.row).toHaveProperty("remark", undefined);
    const { key, row } = owned ?? expect.fail("a key is owned");
    const counters = store.get("counters", SELF) ?? expect.fail("it has counters");
    const writes = [
      { op: "replace", table: "keys", key, row },
      { op: "replace", table: "counters", key: SELF, row: counters },
    ] as const;
    await new Promise<void>((resolve, reject) => {
      store.commit(writes, (failure) => (failure === undefined ? resolve() : reject(failure)));
    });
    expect(versionOf(bytes.get("keys", key)?.row ?? expect.fail())).toBe(NEXT_VERSION);
    expect(store.verifyAll()).toBeUndefined();
    // The program before does not take that for damage.
    const before = new SealedStore(bytes, crypto);
    before.useKey(keys.integrity);
    expect(bringLaterKeys(before, keys)).toBeUndefined();
    expect(() => before.verifyAll()).toThrow(OTHER);
    await Effect.runPromise(bytes.close);
    await expect(clusterOn(directory)).rejects.toThrow(/StartError: peer\.data-dir: seals\/\d+ was written/);
  });

  it("has written a database whose copy is read as it lies, and holds the same once a peer has opened it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "custody-kept-"));
    opened.push(() => rmSync(directory, { recursive: true }));
    copyTo(folder, directory);
    const rowsOf = ({ scan }: Pick<ByteStore, "scan">) => tableNames.map((table) => scan(table, "", 1000));
    const asItLies = await Effect.runPromise(
      Effect.scoped(Effect.map(openCopy(databaseFile(directory)), ({ bytes }) => rowsOf(bytes))),
    );
    const bytes = await Effect.runPromise(openSqliteByteStore({ directory }));
    opened.push(() => Effect.runPromise(Effect.ignore(bytes.close)));
    expect(asItLies.flat().length).toBeGreaterThan(20);
    expect(rowsOf(bytes)).toEqual(asItLies);
  });

  it("has written rows of every kind that are read as they were meant, and written in its form for ever", () => {
    const { rows } = keptSamples(folder);
    if (version === NEWEST) expect(Object.keys(rows)).toEqual(ofRows);
    const { crypto } = cryptoBackend("native");
    for (const [table, { key, row }] of Object.entries(rows)) {
      const bytes = hexToBytes(row);
      const codec = rowCodec(table as TableName) as Codec<Rows[TableName]>;
      const value = Either.getOrThrowWith(decode(codec, bytes), (why) => new Error(`${table}: ${why}`));
      if (version === NEWEST) expect(encode(codec, value), table).toEqual(bytes);
      if (table === "certificates") expect(proposalId(crypto, (value as Rows["certificates"]).proposal)).toBe(key);
      if (table === "batches") expect(batchHash(crypto, (value as Rows["batches"]).header)).toMatch(/^[0-9a-f]{64}$/);
      if (table === "sessions") {
        const { session, ack } = value as Rows["sessions"];
        expect(sessionDigest(crypto, session)).toBe(ack.statement.proposalId);
      }
    }
  });

  it.runIf(isSpoken(commands.versions, { version }))("has said what its neighbour understands, of every kind", () => {
    const { messages } = keptSamples(folder);
    const codec = messagesIn(commands, version);
    for (const [tag, said] of Object.entries(messages)) {
      const bytes = hexToBytes(said);
      const message = Either.getOrThrowWith(decode(codec, bytes), (why) => new Error(`${tag}: ${why}`));
      expect(message._tag).toBe(tag);
      expect(encode(codec, message), tag).toEqual(bytes);
    }
  });

  it("has written a tape that is played", () => {
    const tape = Either.getOrThrow(parseTape(keptTape(folder)));
    expect(tape.commit).not.toBe("");
    expect(play(tape).result.violation?.id).toBe(tape.end.violation?.id ?? expect.fail());
  });
});
