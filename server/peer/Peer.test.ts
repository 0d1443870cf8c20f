import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import type { OperatorCall } from "../../core/protocol/OperatorAct.ts";
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { actor, settingsOf } from "../../properties/cluster/Cluster.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import { sealState } from "../../core/protocol/Status.ts";
import { tables as schema } from "../../core/Tables.ts";
import { readAudit } from "../../runtime/AuditReads.ts";
import { MemoryByteStore, type MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { cryptoBackend, type PeerKeys } from "../crypto/CryptoBackend.ts";
import { shamirProvider } from "../seal/ShamirSeal.ts";
import { jsonLog } from "./Log.ts";
import { Metrics } from "./Metrics.ts";
import { Operation } from "./Operation.ts";
import { WallClock } from "../../runtime/WallClock.ts";
import { Peer } from "./Peer.ts";
import { type Initialized, SealControl } from "./SealControl.ts";

const backend = cryptoBackend("portable");
const keys = (fill: number): PeerKeys =>
  backend.keysOf({
    identitySeed: new Uint8Array(32).fill(fill),
    integritySeed: new Uint8Array(32).fill(fill + 1),
  });
const mono = { peerId: 1, threshold: 1, total: 1 };
const vault = new Uint8Array(8);

const operation = (call: OperatorCall): Operation =>
  new Operation({
    at: 1_800_000_000_000,
    call,
    actor: { iss: undefined, sub: "olga", jti: "t1" },
    requestId: "r1",
    request: { method: "POST", path: "/v1/custody/system", bodyDigest: undefined },
    outcome: "APPLIED",
    detail: "",
    times: 1,
  });

/** A mono peer on a store whose flushes end when the test says so; by default at once. */
const start = (tables: MemoryTables = new Map()) => {
  const waiting: Array<() => void> = [];
  let isSlow = false;
  let initialized = 0;
  const bytes = new MemoryByteStore({ tables, schedule: (flush) => (isSlow ? void waiting.push(flush) : flush()) });
  const peer = new Peer({
    bytes,
    backend,
    settings: { ...settingsOf(1, 1), answerMillis: 1_000 },
    metrics: new Metrics(),
    flushed: () => undefined,
    clock: new WallClock({ clock: () => 1_800_000_000_000, elapsed: () => 0 }),
    elapsedMillis: () => 0,
    journal: { acts: [], append: (_kept, _isFirst, done) => done() },
    judgesTokens: () => true,
    send: () => undefined,
    isInSession: () => false,
    founded: () => undefined,
    initialized: () => void (initialized += 1),
    halt: (reason) => {
      throw reason;
    },
  });
  const slowDown = (): void => void (isSlow = true);
  return { peer, waiting, slowDown, speedUp: () => void (isSlow = false), initialized: () => initialized, tables };
};

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const publicKey64 = Buffer.from(ed25519.getPublicKey(new Uint8Array(32).fill(7))).toString("base64");
const body = { id: "alice", credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 } };
const registration = {
  method: "POST",
  path: REGISTER_PATH,
  ifMatch: undefined,
  rawBody: utf8ToBytes(JSON.stringify(body)),
};

const otherKey64 = Buffer.from(ed25519.getPublicKey(new Uint8Array(32).fill(8))).toString("base64");
const otherBody = utf8ToBytes(
  JSON.stringify({ id: "bob", credential: { ...body.credential, publicKey64: otherKey64 } }),
);

describe("a peer that is sealed while a flush is under way", () => {
  it("keeps its keys until that flush has ended, and what it wrote stands", async () => {
    const { peer, waiting, slowDown } = start();
    await peer.initialize(keys(1), vault, mono);
    await peer.unseal(keys(1)).end;
    slowDown();
    const registering = peer.mutate(registration, "token", actor);
    while (waiting.length === 0) await turnOfTheLoop();
    let isSealed = false;
    const sealing = peer.seal(operation("SEAL")).then(() => {
      isSealed = true;
    });
    await turnOfTheLoop();
    expect(isSealed).toBe(false);
    // Events before the seal need the key for each of their flushes, however slow.
    for (let flush = waiting.shift(); flush !== undefined; flush = waiting.shift()) {
      expect(isSealed).toBe(false);
      flush();
      await turnOfTheLoop();
    }
    await sealing;
    expect(await registering).toMatchObject({ _tag: "Registered", created: true });
    expect(peer.state.fitness.unsealed).toBe(false);
    expect(peer.state.registry.approvers).toBe(1);
  });
});

/** A founded peer that was started again, with its keys handed in and not a row verified yet. */
const verifying = async () => {
  const first = start();
  await first.peer.initialize(keys(1), vault, mono);
  await first.peer.unseal(keys(1)).end;
  expect(await first.peer.mutate(registration, "token", actor)).toMatchObject({ _tag: "Registered" });
  first.peer.stop();
  const { peer } = start(first.tables);
  return { peer, ...peer.unseal(keys(1)), tables: first.tables };
};

describe("a peer that was unsealed and verifies its records", () => {
  it("says so, signs nothing and serves no reads before it is done", async () => {
    const { peer, end } = await verifying();
    expect(peer.verifying).toEqual({ rows: 0, of: expect.any(Number) });
    expect(peer.verifying?.of).toBeGreaterThan(10);
    expect(sealState(peer.state)).toBe("UNSEALED");
    const reason = "its records are being verified";
    expect(await peer.readiness()).toEqual([{ peerId: 1, reason }]);
    expect(await peer.mutate({ ...registration, rawBody: otherBody }, "token", actor)).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId: 1, reason }] },
    });
    if (actor._tag !== "Verified") throw new Error("the actor is known");
    const claims = { ...actor.claims, permissions: ["service.approvers.read"] };
    expect(peer.read({ ...actor, claims }, "alice")).toMatchObject({ left: { code: "VERIFYING" } });
    expect(await peer.rotateIntegrity(new Uint8Array(32), operation("ROTATE_INTEGRITY_KEY"))).toMatchObject({
      rejection: { code: "VERIFYING" },
    });
    expect(await end).toMatchObject({ _tag: "Unsealed", integrityFault: undefined });
    expect(peer.verifying).toBeUndefined();
    expect(await peer.readiness()).toEqual([]);
    peer.stop();
  });

  it("is sealed when that is asked for in the middle, and stays sealed", async () => {
    const { peer, end, tables } = await verifying();
    const before = structuredClone(tables);
    await peer.seal(operation("SEAL"));
    expect(await end).toEqual({ _tag: "SealedMeanwhile" });
    expect(sealState(peer.state)).toBe("SEALED");
    expect(tables).toEqual(before);
    expect(await peer.unseal(keys(1)).end).toMatchObject({ _tag: "Unsealed", integrityFault: undefined });
    expect(await peer.readiness()).toEqual([]);
    peer.stop();
  });

  it("ends with its process, and says nothing of a store that is closed by then", async () => {
    const { peer, end } = await verifying();
    peer.stop();
    expect(await end).toEqual({ _tag: "SealedMeanwhile" });
  });
});

/** The rows of a peer before a registration and after it. */
const beforeAndAfter = async () => {
  const { peer, tables } = start();
  await peer.initialize(keys(1), vault, mono);
  await peer.unseal(keys(1)).end;
  const before = structuredClone(tables);
  expect(await peer.mutate(registration, "token", actor)).toMatchObject({ _tag: "Registered" });
  peer.stop();
  return { before, after: tables };
};

const exchange = (tables: MemoryTables, by: MemoryTables, only?: "counters"): void => {
  if (only === undefined) tables.clear();
  for (const [table, rows] of by) if (only === undefined || table === only) tables.set(table, new Map(rows));
};

describe("a peer whose disk is exchanged while it is sealed", () => {
  it.each([["all of it"], ["counters"]] as const)("signs nothing from the rows it was started on: %s", async (what) => {
    const { before, after } = await beforeAndAfter();
    const newest = structuredClone(after);
    exchange(after, before, what === "counters" ? what : undefined);
    const { peer, tables } = start(after);
    // The newest rows, with which nothing is wrong.
    exchange(tables, newest);
    expect(await peer.unseal(keys(1)).end).toMatchObject({
      integrityFault: expect.stringMatching(
        /^\w+\/\S+: it is not what it was when this peer was started; start it again$/,
      ),
    });
    expect(await peer.mutate({ ...registration, rawBody: otherBody }, "token", actor)).toMatchObject({
      _tag: "Rejected",
    });
    expect(tables).toEqual(newest);
    peer.stop();
    const { peer: next } = start(tables);
    expect(await next.unseal(keys(1)).end).toMatchObject({ integrityFault: undefined });
    expect(next.state.registry.approvers).toBe(1);
    next.stop();
  });
});

describe("a peer whose flush takes longer than a caller may wait", () => {
  it("names the approver whose outcome is open, and leaves none open of an enrollment that nobody is told of", async () => {
    const { peer, slowDown } = start();
    await peer.initialize(keys(1), vault, mono);
    await peer.unseal(keys(1)).end;
    slowDown();
    const options = { ...registration, path: OPTIONS_PATH };
    const answers = [registration, options].map((call) => peer.mutate(call, "token", actor));
    expect(await Promise.all(answers)).toMatchObject([
      { rejection: { ref: expect.stringMatching(/^alice@sha256:[0-9a-f]{64}$/), outcomeUnknown: true } },
      { rejection: { ref: undefined, outcomeUnknown: false } },
    ]);
    peer.stop();
  });
});

const NUMBERS = { shares: 3, threshold: 2 };
/** Init and unseal of a peer, as operators ask for them. */
const controlOf = (peer: Peer): SealControl =>
  new SealControl({
    peer,
    provider: shamirProvider(NUMBERS, (length) => Uint8Array.from(randomBytes(length))),
    backend,
    log: jsonLog(
      "error",
      () => undefined,
      () => 0,
    ),
  });
const sharesIn = (made: Either.Either<Initialized, unknown>): ReadonlyArray<string> => {
  const shown = Either.getOrThrow(made);
  return "shares64" in shown ? shown.shares64 : [];
};

describe("an initialization whose flush takes longer than its caller may wait", () => {
  it("is the only one until it has landed, and the peer goes on from it then", async () => {
    const { peer, waiting, slowDown, speedUp, initialized } = start();
    slowDown();
    const late = { _tag: "Rejected", rejection: { outcomeUnknown: true } };
    expect(await peer.initialize(keys(1), vault, mono)).toMatchObject(late);
    expect(await peer.initialize(keys(3), vault, mono)).toMatchObject(late);
    expect([waiting.length, peer.isInitializing, sealState(peer.state)]).toEqual([1, true, "UNINITIALIZED"]);
    expect(initialized()).toBe(0);
    waiting.shift()?.();
    expect([peer.isInitializing, sealState(peer.state), initialized()]).toEqual([false, "SEALED", 1]);
    expect(peer.state.cluster.peer?.identityKey).toBe(keys(1).identity.publicKey);
    speedUp();
    expect(await peer.initialize(keys(5), vault, mono)).toEqual({ _tag: "Initialized" });
    expect(await peer.unseal(keys(5)).end).toMatchObject({ integrityFault: undefined });
    expect([peer.state.cluster.peer?.identityKey, initialized()]).toEqual([keys(5).identity.publicKey, 2]);
    peer.stop();
  });

  it("takes no share meanwhile, and forgets those of the vault that it replaces", async () => {
    const { peer, waiting, slowDown, speedUp } = start();
    const control = controlOf(peer);
    const [old = "", other = ""] = sharesIn(await control.initialize(mono));
    expect(await control.unseal(old)).toMatchObject({ right: { have: 1, need: 2 } });
    slowDown();
    expect(await control.initialize(mono)).toMatchObject({ left: { outcomeUnknown: true } });
    expect(await control.unseal(other)).toMatchObject({ left: { code: "NOT_INITIALIZED" } });
    expect(control.progress).toBeUndefined();
    waiting.shift()?.();
    expect(control.progress).toEqual({ have: 0, need: 2 });
    speedUp();
    const [first = "", second = ""] = sharesIn(await control.initialize(mono));
    expect(await control.unseal(first)).toMatchObject({ right: { have: 1, need: 2 } });
    expect(await control.unseal(second)).toMatchObject({ right: { state: "UNSEALED" } });
    peer.stop();
  });

  it("is left to the next process where this one ends before it lands", async () => {
    const { peer, waiting, slowDown, initialized, tables } = start();
    slowDown();
    expect(await peer.initialize(keys(1), vault, mono)).toMatchObject({ _tag: "Rejected" });
    peer.stop();
    waiting.shift()?.();
    expect([initialized(), sealState(peer.state), sealState(start(tables).peer.state)]).toEqual([
      0,
      "UNINITIALIZED",
      "SEALED",
    ]);
  });
});

describe("a peer whose records do not hold", () => {
  it("is not a new one: it cannot be initialized again, and its rows stay as they are", async () => {
    const first = start();
    await first.peer.initialize(keys(1), vault, mono);
    first.peer.stop();
    const row = first.tables.get("peer")?.get("self");
    if (row === undefined) throw new Error("the peer was initialized");
    first.tables.get("peer")?.set("self", { ...row, row: Uint8Array.of(...row.row.slice(0, -1), 0) });
    const before = structuredClone(first.tables);
    const { peer } = start(first.tables);
    expect(peer.state.fitness.integrityFault).toBeDefined();
    const answer = await peer.initialize(keys(3), vault, mono);
    expect(answer._tag).toBe("Rejected");
    expect(first.tables).toEqual(before);
  });

  it("finds a changed seal of any row it has at its start, names the row and signs nothing", async () => {
    const first = start();
    await first.peer.initialize(keys(1), vault, mono);
    await first.peer.unseal(keys(1)).end;
    expect(await first.peer.mutate(registration, "token", actor)).toMatchObject({ _tag: "Registered" });
    await first.peer.rotateIntegrity(new Uint8Array(32).fill(9), operation("ROTATE_INTEGRITY_KEY"));
    first.peer.stop();
    const tables = [...first.tables].filter(([, rows]) => rows.size > 0).map(([table]) => table);
    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables) {
      const disk = structuredClone(first.tables);
      const [entry] = disk.get(table) ?? [];
      if (entry === undefined) throw new Error("the table has a row");
      const [key, { row, seal }] = entry;
      disk.get(table)?.set(key, { row, seal: Uint8Array.of(...seal.slice(0, -1), (seal.at(-1) ?? 0) ^ 1) });
      const before = structuredClone(disk);
      const { peer } = start(disk);
      expect(await peer.unseal(keys(1)).end).toMatchObject({
        integrityFault: expect.stringContaining(`${table}/${key}`),
      });
      expect(peer.state.fitness.integrityFault).toContain(`${table}/${key}`);
      expect((await peer.mutate({ ...registration, rawBody: otherBody }, "token", actor))._tag).toBe("Rejected");
      expect(disk, table).toEqual(before);
      peer.stop();
    }
  });
});

describe("a peer whose stored rows do not hold", () => {
  const { act } = operation("UNSEAL");
  /** The tables of a peer that was unsealed and has changed something, once it has ended. */
  const used = async (): Promise<MemoryTables> => {
    const { peer, tables } = start();
    await peer.initialize(keys(1), vault, mono);
    await peer.unseal(keys(1), act).end;
    expect(await peer.mutate(registration, "token", actor)).toMatchObject({ _tag: "Registered" });
    peer.stop();
    return tables;
  };
  /** Changes a bit in the row of the last key of a table. */
  const damage = (tables: MemoryTables, table: "counters" | "audit"): void => {
    const [newest] = [...(tables.get(table) ?? [])].toSorted(([one], [other]) => (one < other ? 1 : -1));
    const row = newest?.[1].row;
    const at = (row?.length ?? 0) - 3;
    if (row === undefined) throw new Error("there is no such row");
    row[at] = (row[at] ?? 0) ^ 1;
  };

  it("does not say that its audit is empty because it could not read how long that is", async () => {
    const tables = await used();
    damage(tables, "counters");
    const { peer } = start(tables);
    await peer.unseal(keys(1), act).end;
    expect(peer.state.signed.audit.seq).toBe(0);
    for (const since of [1, 2])
      expect(readAudit(peer.reading, since, 100)).toMatchObject({ left: { code: "INTEGRITY_FAILURE" } });
    peer.stop();
  });

  it("is damaged and no longer verifying where the unseal itself meets such a row", async () => {
    const tables = await used();
    const ranges = { most: 3, piece: 1, open: 2, changed: 64, slice: 128 };
    const store = new SealedStore(new MemoryByteStore({ tables }), backend.crypto, schema, ranges);
    store.useKey(keys(1).integrity);
    store.verifyAll();
    const counters = store.get("counters", "self");
    if (counters === undefined) throw new Error("there are no counters");
    // Transactions without an audit row, until the range of the newest one is closed.
    for (let each = 0; each < 140; each += 1)
      store.commit([{ op: "replace", table: "counters", key: "self", row: counters }], (failure) =>
        expect(failure).toBeUndefined(),
      );
    damage(tables, "audit");
    const { peer } = start(tables);
    expect(await peer.unseal(keys(1), act).end).toMatchObject({ integrityFault: expect.stringContaining("audit/") });
    expect(modeOf(peer.state)).toBe("damaged");
    peer.stop();
  });
});
