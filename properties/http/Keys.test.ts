/**
 * Keys of three real peers: made, used while one is away, renewed, destroyed, repaired. Every secret of the process is
 * written down here as it is made, and none of them is found on a disk, in a log or in an answer.
 */
import { createHash, createPublicKey, verify as opensslVerify } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import { verifiesBip340 } from "../keys/PlainBip340.ts";
import { openClient, values } from "../../server/sqlite/Database.ts";
import { Effect } from "effect";
import { filesIn, rowEnds } from "./DiskBytes.ts";
import { allPermissions, type Answered, registration, ServerCluster } from "./ServerCluster.ts";

/** Every secret that anything in this process has looked at, by its hexadecimal form. */
const secrets = new Map<string, Uint8Array>();
const { expose } = Secret.prototype;
vi.spyOn(Secret.prototype, "expose").mockImplementation(function (this: Secret) {
  const bytes = expose.call(this);
  // Zeros and small numbers are everywhere.
  if (new Set(bytes).size > 12) secrets.set(Buffer.from(bytes).toString("hex"), Uint8Array.from(bytes));
  return bytes;
});
afterAll(() => {
  vi.restoreAllMocks();
});

const KEYS = "/v1/custody/keys";
const keyPermissions = [
  ...allPermissions,
  "service.dkg.*",
  "service.compliance.inventory",
  "service.recover",
  "service.key.*.*",
];

let cluster: ServerCluster;
/** Of peer 2, from before any key. */
let old: string;
const told: Array<string> = [];
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  cluster.token = await cluster.mint(keyPermissions);
  await cluster.stop(2);
  old = join(cluster.folder, "old-2");
  cpSync(cluster.member(2).dataDir, old, { recursive: true });
  await back(2);
}, 60_000);
afterAll(() => cluster.close());

const back = async (id: number): Promise<void> => {
  await cluster.run(id);
  await cluster.unseal(id);
  for (const each of cluster.ids) await cluster.ready(each);
};

const noted = async (asked: Promise<Answered>): Promise<Answered> => {
  const answered = await asked;
  told.push(answered.text);
  return answered;
};

const create = (id: number, keyId: string, more: object = {}) =>
  noted(cluster.post(id, KEYS, { keyId, algorithm: "ED25519", authorities: [{ id: "arbitrary" }], ...more }));

const message = Buffer.from("twelve ducats to the bearer");

const sign = (id: number, keyId: string, scheme = "EdDSA", hash = "NONE") =>
  noted(
    cluster.post(id, `${KEYS}/${keyId}/sign`, {
      command: {
        type: "arbitrary",
        authorityId: "arbitrary",
        artifact: { scheme, hash, data64: message.toString("base64") },
      },
    }),
  );

const bytesIn = (answered: Answered | { readonly json: unknown }, ...path: ReadonlyArray<string>): Buffer =>
  Buffer.from(String(path.reduce<unknown>((value, name) => Reflect.get(Object(value), name), answered.json)), "base64");

/** OpenSSL's opinion of an answer to {@link sign}, under the public key that a peer tells. */
const isOpensslSatisfied = async (keyId: string, signed: Answered, of = ""): Promise<boolean> => {
  expect([signed.status, signed.json["code"]]).toEqual([200, undefined]);
  const shown = await cluster.get(
    cluster.ids.find((id) => cluster.member(id).server) ?? 1,
    `${KEYS}/${keyId}/public${of}`,
  );
  const key = createPublicKey({ key: bytesIn(shown, "spki64"), format: "der", type: "spki" });
  return opensslVerify(null, message, key, bytesIn(signed, "signature64"));
};

const withoutHealth = ({ json }: Answered): object => ({ ...json, health: undefined });

/** How many rows of a table a peer's disk has for a key; the peer may run. */
const rowsOf = (id: number, table: string, keyId: string): Promise<number> =>
  Effect.gen(function* () {
    const client = yield* openClient(databaseFile(cluster.member(id).dataDir), "read");
    const connection = yield* client.reserve;
    const sql = `SELECT count(*) FROM working WHERE name = '${table}' AND key LIKE '${keyId}/%'`;
    return Number((yield* values(connection, sql))[0]?.[0]);
  }).pipe(Effect.scoped, Effect.runPromise);

/** The boxes of a key on a peer's disk. */
const rowBytes = (id: number, table: string, keyId: string): Promise<ReadonlyArray<Buffer>> =>
  rowEnds(cluster.member(id).dataDir, table, keyId);

/** All files of all peers. */
const files = (): ReadonlyArray<Buffer> => cluster.ids.flatMap((id) => filesIn(cluster.member(id).dataDir));

describe("a key", () => {
  it("is made through a peer that does not write, and is the same at all", async () => {
    const created = await create(3, "k1", { assetOwner: "customer-42" });
    expect([created.status, created.json["health"]]).toEqual([201, "OK"]);
    const read = await Promise.all(cluster.ids.map((id) => cluster.get(id, `${KEYS}/k1`)));
    for (const each of read) {
      expect(each.json["health"]).toBe("OK");
      expect(each.text).toBe(created.text);
      expect(each.headers.get("etag")).toBe(created.headers.get("etag"));
    }
    expect(created.json).toMatchObject({
      keyId: "k1",
      status: "ACTIVE",
      algorithm: "ED25519",
      scheme: "EdDSA",
      currentGeneration: 1,
      assetOwner: "customer-42",
      threshold: 2,
      total: 3,
      generation: { generation: 1, state: "ACTIVE", madeBy: "CREATE", authorities: [{ id: "arbitrary" }] },
    });
    expect((await create(1, "k1", { assetOwner: "customer-42" })).status).toBe(200);
    expect((await create(1, "k1")).json["code"]).toBe("KEY_ALREADY_EXISTS");
  });

  it("is not described again to whom has it already", async () => {
    const etag = (await cluster.get(1, `${KEYS}/k1`)).headers.get("etag") ?? "";
    expect((await cluster.get(2, `${KEYS}/k1`, { "if-none-match": etag })).status).toBe(304);
    expect((await cluster.get(2, `${KEYS}/k1`, { "if-match": '"1"' })).json["code"]).toBe("PRECONDITION_FAILED");
  });

  it.each([
    [`${KEYS}/none`, 404, "KEY_NOT_FOUND"],
    [`${KEYS}/None`, 404, "KEY_NOT_FOUND"],
    [`${KEYS}/%6b1`, 403, "ACCESS_DENIED"],
    [`${KEYS}/k1/generations/2`, 404, "GENERATION_NOT_FOUND"],
    [`${KEYS}/k1/generations/01`, 404, "GENERATION_NOT_FOUND"],
    [`${KEYS}/k1/public?generation=9`, 404, "GENERATION_NOT_FOUND"],
    [`${KEYS}/k1/public?generation=0`, 400, "INVALID_QUERY"],
    [`${KEYS}?status=GONE`, 400, "INVALID_QUERY"],
    [`${KEYS}?cursor=abc`, 400, "INVALID_QUERY"],
    ["/v1/custody/control/identities?limit=101", 400, "INVALID_QUERY"],
    ["/v1/custody/control/identities/authority?keyId=k1", 400, "INVALID_QUERY"],
    ["/v1/custody/control/identities/authority?keyId=k1&authorityId=x", 404, "AUTHORITY_NOT_ATTACHED"],
  ])("is refused by name: %s", async (path, status, code) => {
    const answered = await cluster.get(2, path);
    expect([answered.status, answered.json["code"]]).toEqual([status, code]);
  });

  it("has a permission of its own for each act", async () => {
    const other = { "x-jwt-token": await cluster.mint(["service.key.other.sign", "service.key.k1.verify"]) };
    expect((await cluster.get(2, `${KEYS}/k1`, other)).status).toBe(403);
    expect((await cluster.post(2, `${KEYS}/k1/sign`, {}, other)).status).toBe(403);
    expect((await cluster.post(2, `${KEYS}/k1/rotate`, {}, other)).json).toMatchObject({
      code: "ACCESS_DENIED",
      detail: "The permission service.dkg.rotate or service.key.<keyId>.rotate is missing.",
    });
    expect((await cluster.get(2, "/v1/custody/control/identities", other)).json).toEqual({
      items: [],
      nextCursor: null,
    });
    const own = { "x-jwt-token": await cluster.mint(["service.key.k1.sign"]) };
    expect((await cluster.get(2, "/v1/custody/control/identities", own)).json["items"]).toEqual([
      { keyId: "k1", algorithm: "ED25519", generation: 1, authorities: ["arbitrary"] },
    ]);
  });

  it("signs, and OpenSSL and this service agree; no other message does", async () => {
    const signed = await sign(2, "k1");
    expect(await isOpensslSatisfied("k1", signed)).toBe(true);
    const ask = (data: Buffer, scheme = "EdDSA") =>
      cluster.post(3, `${KEYS}/k1/verify`, {
        command: { type: "arbitrary", artifact: { scheme, data64: data.toString("base64") } },
        signature64: signed.json["signature64"],
      });
    expect((await ask(message)).json).toEqual({ valid: true });
    expect((await ask(Buffer.from("thirteen"))).json).toEqual({ valid: false });
    const misfit = { code: "INVALID_COMMAND", errors: [{ pointer: "/command/artifact/scheme" }] };
    expect([(await sign(2, "k1", "BIP340")).json, (await ask(message, "BIP340")).json]).toMatchObject([misfit, misfit]);
  });

  it("signs a mebibyte of a body of ten, and not a byte more", { timeout: 30_000 }, async () => {
    const most = 10 * 1024 * 1024;
    const ask = (bytes: number, bodyBytes: number) => {
      const artifact = { scheme: "EdDSA", hash: "SHA256", data64: Buffer.alloc(bytes, 7).toString("base64") };
      const body = { command: { type: "arbitrary", authorityId: "arbitrary", artifact } };
      return cluster.post(3, `${KEYS}/k1/sign`, JSON.stringify(body).padEnd(bodyBytes));
    };
    const digest = createHash("sha256")
      .update(Buffer.alloc(1024 * 1024, 7))
      .digest();
    const { json } = await cluster.get(1, `${KEYS}/k1/public`);
    const key = createPublicKey({ key: Buffer.from(String(json["spki64"]), "base64"), format: "der", type: "spki" });
    expect(opensslVerify(null, digest, key, bytesIn(await ask(1024 * 1024, most), "signature64"))).toBe(true);
    expect((await ask(1024 * 1024 + 1, most)).json["code"]).toBe("INVALID_REQUEST_BODY");
    expect((await ask(1, most + 1)).json["code"]).toBe("BODY_TOO_LARGE");
  });

  it.each(["BIP340", "TAPROOT"])("of secp256k1 signs for %s", async (scheme) => {
    const keyId = scheme.toLowerCase();
    expect((await create(2, keyId, { algorithm: "SECP256K1", scheme })).status).toBe(201);
    const signed = await sign(3, keyId, scheme, "SHA256");
    const key = bytesIn(await cluster.get(1, `${KEYS}/${keyId}/public`), "publicKey64");
    const digest = createHash("sha256").update(message).digest();
    expect(verifiesBip340(key, digest, bytesIn(signed, "signature64"))).toBe(true);
  });

  it.each([
    ["ECDSA over a shared key", { algorithm: "P256" }, "SCHEME_NOT_THRESHOLD"],
    ["an unknown algorithm", { algorithm: "RSA" }, "UNSUPPORTED_ALGORITHM"],
    ["another authority", { authorities: [{ id: "other" }] }, "INVALID_REQUEST_BODY"],
    ["an id with a dot", { keyId: "a.b" }, "INVALID_REQUEST_BODY"],
  ])("is refused: %s", async (_what, more, code) => {
    expect((await create(3, "refused", more)).json["code"]).toBe(code);
  });

  it("is listed in pages, and its filters tell who owns what", async () => {
    const all = await cluster.get(3, KEYS);
    expect(all.json["items"]).toMatchObject([{ keyId: "bip340" }, { keyId: "k1" }, { keyId: "taproot" }]);
    const first = await cluster.get(3, `${KEYS}?limit=2`);
    expect(first.json["items"]).toHaveLength(2);
    const rest = await cluster.get(1, `${KEYS}?limit=2&cursor=${String(first.json["nextCursor"])}`);
    expect(rest.json).toMatchObject({ items: [{ keyId: "taproot" }], nextCursor: null });
    const foreign = await cluster.get(1, `${KEYS}?status=ACTIVE&cursor=${String(first.json["nextCursor"])}`);
    expect(foreign.json["code"]).toBe("INVALID_QUERY");
    const owned = await cluster.get(1, `${KEYS}?assetOwner=customer-42`);
    expect(owned.json["items"]).toMatchObject([{ keyId: "k1" }]);
  });

  it("is never an approver's", async () => {
    const { json } = await cluster.get(1, `${KEYS}/k1/public`);
    const registered = await cluster.register(2, registration("mallory", String(json["publicKey64"])));
    expect(registered.json["code"]).toBe("KEY_ALREADY_REGISTERED");
  });
});

describe("while a peer is away", () => {
  it.each([1, 2, 3])("all others sign without peer %i", { timeout: 60_000 }, async (away) => {
    await cluster.stop(away);
    for (const id of cluster.ids.filter((each) => each !== away))
      expect(await isOpensslSatisfied("k1", await sign(id, "k1"))).toBe(true);
    await back(away);
  });

  it("no key is made, nothing of it stays on a disk, and the same request makes it later", {
    timeout: 60_000,
  }, async () => {
    await cluster.stop(3);
    await cluster.unready(1);
    const refused = await create(2, "later");
    expect([refused.status, refused.json["code"]]).toEqual([503, "KEY_REPLICATION_UNAVAILABLE"]);
    expect(refused.json["members"]).toMatchObject([{ peerId: 3 }]);
    expect((await cluster.get(1, `${KEYS}/later`)).status).toBe(404);
    for (const id of cluster.ids)
      for (const table of ["shares", "pending"]) expect(await rowsOf(id, table, "later")).toBe(0);
    await back(3);
    expect((await create(2, "later")).status).toBe(201);
  });

  it("one alone signs nothing, and says who is missing", { timeout: 60_000 }, async () => {
    await cluster.stop(1);
    await cluster.stop(2);
    const refused = await sign(3, "k1");
    expect([refused.status, refused.json["code"]]).toEqual([503, "SIGNING_QUORUM_UNAVAILABLE"]);
    expect(refused.json["members"]).toMatchObject([{ peerId: 1 }, { peerId: 2 }]);
    await cluster.run(1);
    await cluster.unseal(1);
    await back(2);
  });
});

describe("the next generation", () => {
  it("of a refresh has the same public key, and the old shares are gone from every file", {
    timeout: 60_000,
  }, async () => {
    const before = await cluster.get(1, `${KEYS}/k1`);
    const boxes = await Promise.all(cluster.ids.map((id) => rowBytes(id, "shares", "k1")));
    const planted = boxes.flat();
    expect(planted).toHaveLength(3);
    expect(planted.every((box) => files().some((file) => file.includes(box)))).toBe(true);
    const refreshed = await noted(cluster.post(3, `${KEYS}/k1/refresh`, { baseGeneration: 1 }));
    expect(refreshed.json).toMatchObject({ currentGeneration: 2, generation: { state: "ACTIVE", madeBy: "REFRESH" } });
    expect(bytesIn(refreshed, "generation", "publicKey64")).toEqual(bytesIn(before, "generation", "publicKey64"));
    const first = await cluster.get(2, `${KEYS}/k1/generations/1`);
    expect(first.json["generation"]).toMatchObject({ generation: 1, state: "SUPERSEDED" });
    await vi.waitFor(() => expect(planted.filter((box) => files().some((file) => file.includes(box)))).toEqual([]), {
      timeout: 20_000,
      interval: 100,
    });
    expect(await isOpensslSatisfied("k1", await sign(1, "k1"))).toBe(true);
  });

  it("of a rotation has another, and the same request again finds it", { timeout: 60_000 }, async () => {
    const before = await cluster.get(1, `${KEYS}/k1`);
    const last = await sign(2, "k1");
    const rotated = await noted(cluster.post(2, `${KEYS}/k1/rotate`, { baseGeneration: 2 }));
    const again = await noted(cluster.post(3, `${KEYS}/k1/rotate`, { baseGeneration: 2 }));
    expect([rotated.status, again.status, again.text]).toEqual([200, 200, rotated.text]);
    expect(rotated.json["currentGeneration"]).toBe(3);
    expect(bytesIn(rotated, "generation", "publicKey64")).not.toEqual(bytesIn(before, "generation", "publicKey64"));
    expect(await isOpensslSatisfied("k1", await sign(3, "k1"))).toBe(true);
    expect(await isOpensslSatisfied("k1", last, "?generation=2")).toBe(true);
    const moved = await cluster.post(1, `${KEYS}/k1/refresh`, { baseGeneration: 2 });
    expect([moved.status, moved.json["code"]]).toEqual([409, "GENERATION_MOVED"]);
  });
});

describe("a destroyed generation", () => {
  it("leaves no share in any file, and its signatures still verify", { timeout: 60_000 }, async () => {
    const boxes = (await Promise.all(cluster.ids.map((id) => rowBytes(id, "shares", "k1")))).flat();
    expect(boxes).toHaveLength(6);
    const active = await cluster.post(1, `${KEYS}/k1/destroy`, { baseGeneration: 3, generation: 3 });
    expect(active.json["code"]).toBe("GENERATION_IN_USE");
    const destroyed = await noted(cluster.post(2, `${KEYS}/k1/destroy`, { baseGeneration: 3, generation: 2 }));
    expect(destroyed.json).toMatchObject({ status: "ACTIVE", generation: { generation: 2, state: "DESTROYED" } });
    expect(boxes.filter((box) => files().some((file) => file.includes(box)))).toHaveLength(3);
    expect(await isOpensslSatisfied("k1", await sign(3, "k1"))).toBe(true);
    const final = { baseGeneration: 1, generation: 1, final: true };
    expect((await noted(cluster.post(1, `${KEYS}/later/destroy`, final))).json["status"]).toBe("DESTROYED");
    expect((await sign(1, "later")).json["code"]).toBe("KEY_DESTROYED");
    expect((await create(1, "later")).json["code"]).toBe("KEY_DESTROYED");
  });
});

describe("a peer from a backup that is older than the key", () => {
  it("never signs with it and says so, until it is repaired", { timeout: 120_000 }, async () => {
    const { dataDir } = cluster.member(2);
    await cluster.stop(2);
    rmSync(dataDir, { recursive: true });
    cpSync(old, dataDir, { recursive: true });
    await cluster.run(2);
    await cluster.unseal(2);
    await cluster.post(2, "/v1/custody/system/restore", {});
    for (const id of cluster.ids) await cluster.ready(id);
    expect((await cluster.get(2, `${KEYS}/k1`)).json["health"]).toBe("SHARE_MISSING");
    expect((await cluster.get(2, "/v1/custody/control/identities")).json["items"]).toEqual([]);
    expect(withoutHealth(await cluster.get(2, `${KEYS}/k1`))).toEqual(
      withoutHealth(await cluster.get(1, `${KEYS}/k1`)),
    );
    // Whoever it is, any peer coordinates.
    expect(await isOpensslSatisfied("k1", await sign(2, "k1"))).toBe(true);
    await cluster.stop(3);
    expect((await sign(1, "k1")).json["code"]).toBe("SIGNING_QUORUM_UNAVAILABLE");
    await back(3);
    const repaired = await noted(cluster.post(2, `${KEYS}/k1/repair`, { helpers: [1, 3] }));
    expect([repaired.status, repaired.json["generations"]]).toEqual([200, [3]]);
    expect((await cluster.get(2, `${KEYS}/k1`)).json["health"]).toBe("OK");
    await cluster.stop(3);
    expect(await isOpensslSatisfied("k1", await sign(1, "k1"))).toBe(true);
    await back(3);
  });
});

describe("no secret of all this", () => {
  it("is on a disk, in a log or in an answer, in any of its forms", { timeout: 60_000 }, () => {
    expect(secrets.size).toBeGreaterThan(100);
    const texts = [...cluster.logs, ...told].join("\n");
    const all = Buffer.concat([...files(), Buffer.from(texts)]);
    const foundIn = (bytes: Buffer) =>
      [...secrets].filter(
        ([hex, raw]) =>
          bytes.includes(Buffer.from(raw)) ||
          bytes.includes(hex) ||
          bytes.includes(Buffer.from(raw).toString("base64")),
      );
    expect(foundIn(all).map(([hex]) => hex.slice(0, 8))).toEqual([]);
    // One that leaks is found.
    const [first] = secrets.values();
    expect(foundIn(Buffer.concat([all, first ?? Buffer.alloc(0)]))).toHaveLength(1);
  });
});
