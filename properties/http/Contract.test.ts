/**
 * What docs/contract.md promises of the registry and the configuration (4.1, 4.2, 7, 8), sentence by sentence and in
 * its order, of three real peers over HTTP. Every test begins with the section it shows.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Enrollees, enrollingElsewhere } from "./Enrollment.ts";
import { type Answered, freshKey64, registration, ServerCluster } from "./ServerCluster.ts";

const APPROVERS = "/v1/custody/approvers";
const OPTIONS = `${APPROVERS}/webauthn/registration/options`;
const FINISH = `${APPROVERS}/webauthn/registration/finish`;
const CONFIG = "/v2/custody/config";

let cluster: ServerCluster;
let enrollees: Enrollees;
const may: { [permission: string]: { readonly "x-jwt-token": string } } = {};
const bearer = async (...permissions: ReadonlyArray<string>) => ({ "x-jwt-token": await cluster.mint(permissions) });

beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere());
  enrollees = new Enrollees(cluster);
  may["register"] = await bearer("service.approvers.register");
  may["read"] = await bearer("service.approvers.read");
  may["replace"] = await bearer("service.approvers.metadata");
  may["nothing"] = await bearer();
});
afterAll(async () => {
  await cluster.close();
});

const told = ({ status, json }: Answered): string =>
  json["code"] === undefined ? String(status) : `${status} ${String(json["code"])}`;
const refOf = ({ json }: Answered): string => String(json["ref"]);
const pathOf = (ref: string): string => `${APPROVERS}/${encodeURIComponent(ref)}`;
const revisionOf = ({ json, headers }: Answered) => [json["metadataRevision"], headers.get("etag")];

const register = (body: unknown, through = 2): Promise<Answered> =>
  cluster.post(through, APPROVERS, body, may["register"]);
const created = async (id: string, metadata: object = {}): Promise<string> => {
  const answered = await register(registration(id, freshKey64(), metadata));
  expect(told(answered)).toBe("201");
  return refOf(answered);
};
const read = (ref: string, from = 3): Promise<Answered> => cluster.get(from, pathOf(ref), may["read"]);
const list = (query: string, from = 3): Promise<Answered> => cluster.get(from, `${APPROVERS}${query}`, may["read"]);
const refsIn = ({ json }: Answered): ReadonlyArray<string> =>
  Array.isArray(json["items"]) ? json["items"].map((item) => String(Object(item).ref)) : [];
const replace = (ref: string, body: unknown, ifMatch?: string, through = 2): Promise<Answered> =>
  cluster.send("PUT", through, `${pathOf(ref)}/metadata`, body, {
    ...may["replace"],
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
  });
const enrolled = async (id: string, seed = id): Promise<Answered> => {
  const offer = await enrollees.options(1, { id });
  return enrollees.finish(2, { invitation: offer.invitation, credential: enrollees.credential(offer, seed) });
};

describe("4.1 endpoints", () => {
  it("4.1 the four calls with a permission need a token, and theirs alone of the permissions", async () => {
    const ref = await created("permissions");
    const calls: ReadonlyArray<readonly [string, (as: object) => Promise<Answered>]> = [
      ["register", (as) => cluster.post(1, APPROVERS, registration("p"), { ...as })],
      ["register", (as) => cluster.post(1, OPTIONS, { id: "p" }, { ...as })],
      ["read", (as) => cluster.get(1, APPROVERS, { ...as })],
      ["read", (as) => cluster.get(1, pathOf(ref), { ...as })],
      [
        "replace",
        (as) => cluster.send("PUT", 1, `${pathOf(ref)}/metadata`, { metadata: {} }, { "if-match": '"1"', ...as }),
      ],
    ];
    for (const [needed, call] of calls) {
      expect(told(await call({ "x-jwt-token": "" }))).toBe("401 UNAUTHENTICATED");
      for (const permission of ["register", "read", "replace", "nothing"])
        if (permission === needed) expect((await call(Object(may[permission]))).status).toBeLessThan(300);
        else expect(told(await call(Object(may[permission])))).toBe("403 ACCESS_DENIED");
    }
    expect((await replace(ref, { metadata: {} }, '"1"')).status).toBe(412);
  });

  it("4.1 registration: 201 for a new version, 200 for the same one again, which keeps its metadata", async () => {
    const body = registration("again", freshKey64(), { team: "a" });
    const [first, second] = [await register(body, 1), await register({ ...body, metadata: { team: "b" } }, 3)];
    expect([told(first), told(second), second.text]).toEqual(["201", "200", first.text]);
    expect(revisionOf(first)).toEqual([1, '"1"']);
  });

  it("4.1 registration without metadata has none", async () => {
    const { metadata: _, ...body } = registration("without");
    expect((await register(body)).json["metadata"]).toEqual({});
  });

  it("4.1 options: registrationId, invitation, expiresAt, publicKey and X-EXPIRES-AT; nothing of it finishes but the invitation", async () => {
    const offer = await enrollees.options(3, { id: "offered", metadata: { team: "a" } });
    expect(Object.keys(offer.json)).toEqual(["registrationId", "invitation", "expiresAt", "publicKey"]);
    expect(offer.headers.get("x-expires-at")).toBe(String(Math.floor(Number(offer.json["expiresAt"]) / 1000)));
    const publicKey = Object(offer.json["publicKey"]);
    expect(Buffer.from(publicKey.challenge, "base64url")).toHaveLength(32);
    expect(publicKey).toMatchObject({
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { userVerification: "required" },
      extensions: { credProps: true },
    });
    const credential = enrollees.credential(offer, "offered");
    const finish = (invitation: string) => enrollees.finish(1, { invitation, credential });
    expect(told(await finish(offer.registrationId))).toBe("404 REGISTRATION_NOT_FOUND");
    expect(told(await finish(offer.invitation))).toBe("201");
    const { json } = await enrollees.options(1, { id: "offered" });
    expect(Object(json["publicKey"]).excludeCredentials).toMatchObject([{ id: credential.id, type: "public-key" }]);
  });

  it("4.1 finish: any valid token and the invitation, 201, and 200 for the identical retry", async () => {
    const offer = await enrollees.options(1, { id: "finished" });
    const body = { invitation: offer.invitation, credential: enrollees.credential(offer, "finished") };
    expect(told(await cluster.post(2, FINISH, body, { "x-jwt-token": "" }))).toBe("401 UNAUTHENTICATED");
    const [first, second] = [await enrollees.finish(2, body), await enrollees.finish(3, body)];
    expect([told(first), told(second), second.text]).toEqual(["201", "200", first.text]);
  });

  it("4.1 finish, rules 1 and 3: what the authenticator attested counts, and nothing beside the protocol is taken", async () => {
    const offer = await enrollees.options(1, { id: "strict" });
    const credential = enrollees.credential(offer, "strict");
    const { invitation } = offer;
    const other = enrollees.credential(offer, "another");
    for (const body of [
      { invitation, credential: { ...credential, id: other.id, rawId: other.rawId } },
      { invitation, credential: { ...credential, clientExtensionResults: { prf: { enabled: true } } } },
      { invitation, credential: enrollees.credential(offer, "strict", { origin: "https://evil.example.org" }) },
      { invitation, credential: enrollees.credential(offer, "strict", { challenge: new Uint8Array(32) }) },
    ])
      expect(told(await enrollees.finish(2, body))).toBe("400 INVALID_CEREMONY");
    const override = { invitation, credential, descriptor: { rpId: "example.org" } };
    expect(told(await enrollees.finish(2, override))).toBe("400 INVALID_REQUEST_BODY");
    // Refusals leave the invitation good.
    expect(told(await enrollees.finish(2, { invitation, credential }))).toBe("201");
  });

  it("4.1 every peer reads the same record with its ETag", async () => {
    const ref = await created("everywhere");
    const answers = await Promise.all([1, 2, 3].map((peer) => read(ref, peer)));
    expect(answers.map((each) => [told(each), each.text, each.headers.get("etag")])).toEqual(
      answers.map(() => ["200", answers[0]?.text, '"1"']),
    );
  });
});

describe("4.1.1 list and filter", () => {
  const own = "metadata.suite=list";
  const refs: Array<string> = [];
  beforeAll(async () => {
    for (let index = 0; index < 5; index++)
      refs.push(await created(`listed-${index}`, { suite: "list", parity: String(index % 2), "a b&=ü": "x+y %" }));
    refs.push(await created("listed-0", { suite: "list" }));
    refs.push(refOf(await enrolled("listed-key")));
    refs.sort();
  });

  it("4.1.1 id: exact match, and every version of it", async () => {
    const found = refsIn(await list("?id=listed-0"));
    expect(found).toEqual(refs.filter((ref) => ref.startsWith("listed-0@")));
    expect(found).toHaveLength(2);
    expect(refsIn(await list("?id=listed"))).toEqual([]);
  });

  it("4.1.1 type: SIGNATURE or WEBAUTHN", async () => {
    expect(refsIn(await list("?type=WEBAUTHN&id=listed-key"))).toHaveLength(1);
    expect(refsIn(await list("?type=SIGNATURE&id=listed-key"))).toEqual([]);
    expect(refsIn(await list(`?type=SIGNATURE&${own}`))).toHaveLength(6);
    expect(told(await list("?type=signature"))).toMatch(/^400/);
  });

  it("4.1.1 metadata.<key>: exact, several are combined with AND, names and values URL-encoded", async () => {
    expect(refsIn(await list(`?${own}`))).toHaveLength(6);
    expect(refsIn(await list(`?${own}&metadata.parity=1`))).toHaveLength(2);
    expect(refsIn(await list(`?${own}&metadata.parity=2`))).toEqual([]);
    const encoded = `metadata.${encodeURIComponent("a b&=ü")}=${encodeURIComponent("x+y %")}`;
    expect(refsIn(await list(`?${encoded}&metadata.parity=0`))).toHaveLength(3);
  });

  it("4.1.1 limit: default 50, 1 to 200", async () => {
    for (const limit of ["0", "201", "-1", "1.0", "x", ""]) expect(told(await list(`?limit=${limit}`))).toMatch(/^400/);
    expect(refsIn(await list(`?limit=200&${own}`))).toHaveLength(6);
    expect(refsIn(await list(`?limit=1&${own}`))).toHaveLength(1);
    await Promise.all(Array.from({ length: 51 }, (_, index) => created(`fifty-${index}`, { suite: "fifty" })));
    const first = await list("?metadata.suite=fifty");
    expect([refsIn(first).length, typeof first.json["nextCursor"]]).toEqual([50, "string"]);
  });

  it("4.1.1 cursor: the next page of the same filters, at any peer, and of no others", async () => {
    const first = await list(`?limit=4&${own}`, 1);
    const cursor = String(first.json["nextCursor"]);
    const second = await list(`?limit=4&${own}&cursor=${encodeURIComponent(cursor)}`, 2);
    expect([...refsIn(first), ...refsIn(second)]).toEqual(refs.filter((ref) => !ref.startsWith("listed-key@")));
    expect(second.json["nextCursor"]).toBeNull();
    for (const wrong of [`cursor=${cursor}`, `${own}&cursor=${cursor}x`, `${own}&cursor=x`])
      expect(told(await list(`?limit=4&${wrong}`))).toMatch(/^400/);
  });

  it("4.1.1 all versions, sorted by full ref; what is unknown or repeated is refused", async () => {
    const all = refsIn(await list("?limit=200"));
    expect(all).toEqual(all.toSorted());
    for (const ref of refs) expect(all).toContain(ref);
    for (const query of ["?more=1", "?id=a&id=b", "?metadata.=x", "?metadata.a=1&metadata.a=1", "?id=-"])
      expect(told(await list(query))).toMatch(/^400/);
  });
});

describe("4.1.2 metadata replacement", () => {
  it("4.1.2 rules 1 to 3: the map replaces all pairs, under the current revision, and an empty one clears them", async () => {
    const before = await register(registration("replaced", freshKey64(), { team: "a", city: "Bern" }));
    const ref = refOf(before);
    const changed = await replace(ref, { metadata: { team: "b" } }, '"1"', 3);
    expect([told(changed), ...revisionOf(changed)]).toEqual(["200", 2, '"2"']);
    const { ref: sameRef, credential, createdAt } = before.json;
    expect(changed.json).toMatchObject({ ref: sameRef, credential, createdAt, metadata: { team: "b" } });
    expect(Number(changed.json["updatedAt"])).toBeGreaterThanOrEqual(Number(createdAt));
    const cleared = await replace(ref, { metadata: {} }, '"2"', 1);
    expect([told(cleared), cleared.json["metadata"], ...revisionOf(cleared)]).toEqual(["200", {}, 3, '"3"']);
    for (const peer of [1, 2, 3]) expect((await read(ref, peer)).text).toBe(cleared.text);
  });

  it("4.1.2 rule 4: unknown fields, duplicate keys, nulls, trailing JSON and values that are no strings", async () => {
    const ref = await created("refused-bodies");
    for (const body of [
      '{"metadata":{},"more":1}',
      '{"metadata":{},"metadata":{}}',
      '{"metadata":{"a":"1","a":"2"}}',
      '{"metadata":null}',
      '{"metadata":{"a":null}}',
      '{"metadata":{}} {}',
      '{"metadata":{"a":1}}',
      "{}",
    ])
      expect(told(await replace(ref, body, '"1"'))).toBe("400 INVALID_REQUEST_BODY");
    expect(revisionOf(await read(ref))).toEqual([1, '"1"']);
  });
});

describe("4.1.3 registration rules", () => {
  it("4.1.3 rule 1: a key in another of its encodings is the same key, in the provider's form", async () => {
    const body = registration("encodings");
    const der = Buffer.concat([
      Buffer.from("302a300506032b6570032100", "hex"),
      Buffer.from(body.credential.publicKey64, "base64"),
    ]).toString("base64");
    const [first, again] = [await register(body), await register(registration("encodings", der))];
    expect([told(first), told(again), again.text]).toEqual(["201", "200", first.text]);
  });

  it("4.1.3 rule 2: the same key under another id is 409", async () => {
    const key = freshKey64();
    expect(told(await register(registration("owner", key)))).toBe("201");
    expect(told(await register(registration("thief", key), 3))).toBe("409 KEY_ALREADY_REGISTERED");
  });

  it("4.1.3 rule 3: enrollment is off unless it is configured", async () => {
    const plain = await ServerCluster.found(1);
    const refused = await plain.post(1, OPTIONS, { id: "off" });
    await plain.close();
    expect(told(refused)).toBe("404 WEBAUTHN_DISABLED");
  });
});

describe("4.2 configuration", () => {
  it("4.2 any valid token gets threshold, total, features, authorities and seal provider, and nothing else", async () => {
    expect(told(await cluster.get(1, CONFIG, { "x-jwt-token": "" }))).toBe("401 UNAUTHENTICATED");
    const { json, status } = await cluster.get(2, CONFIG, may["nothing"]);
    expect([status, Object.keys(json).toSorted()]).toEqual([
      200,
      ["authorities", "features", "sealProvider", "threshold", "total"],
    ]);
    expect(json).toMatchObject({ threshold: 2, total: 3, sealProvider: "shamir" });
    for (const [list, member] of [
      [json["features"], "core"],
      [json["authorities"], "custom"],
    ] as const) {
      const names = Array.isArray(list) ? list.map(String) : [];
      expect(names).toContain(member);
      expect(names).toEqual([...new Set(names)].toSorted());
    }
  });
});

describe("7 errors", () => {
  it("7 412 for a stale revision, a weak validator, a wildcard and a list, 428 without If-Match", async () => {
    const ref = await created("preconditions");
    for (const ifMatch of ['"0"', '"2"', 'W/"1"', "*", '"1", "2"', "1", '"01"'])
      expect(told(await replace(ref, { metadata: {} }, ifMatch))).toBe("412 PRECONDITION_FAILED");
    expect(told(await replace(ref, { metadata: {} }))).toBe("428 PRECONDITION_REQUIRED");
  });

  it("7 invalid refs: bare, shortened, in upper case", async () => {
    const ref = await created("refs");
    const digits = ref.slice("refs@sha256:".length);
    for (const wrong of ["refs", ref.slice(0, -1), `refs@sha256:${digits.toUpperCase()}`, `refs@${digits}`, digits])
      expect(told(await read(wrong))).toBe("400 INVALID_REF");
    expect(told(await read(`refs@sha256:${"0".repeat(64)}`))).toBe("404 APPROVER_NOT_FOUND");
    // `@` and `:` may also stand there raw.
    expect(told(await cluster.get(1, `${APPROVERS}/${ref}`, may["read"]))).toBe("200");
  });

  it("7 another response for a completed session is 409", async () => {
    const offer = await enrollees.options(1, { id: "completed" });
    const { invitation } = offer;
    await enrollees.finish(1, { invitation, credential: enrollees.credential(offer, "completed") });
    const other = { invitation, credential: enrollees.credential(offer, "another response") };
    expect(told(await enrollees.finish(2, other))).toBe("409 REGISTRATION_COMPLETED");
  });
});

describe("8 limits", () => {
  const withMetadata = async (metadata: object) => told(await register(registration("limits", freshKey64(), metadata)));

  it("8 approver id: up to 128 characters of its pattern", async () => {
    expect(told(await register(registration("a".repeat(128))))).toBe("201");
    for (const id of ["a".repeat(129), "", "-a", "a b", "ä"])
      expect(told(await register(registration(id)))).toBe("400 INVALID_REQUEST_BODY");
  });

  it("8 metadata: 32 pairs, keys of 1 to 64 bytes, values up to 512, 16 KiB in all", async () => {
    const pairs = (count: number, bytes: number): object =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`k${String(index).padStart(2, "0")}`, "v".repeat(bytes)]),
      );
    for (const metadata of [pairs(32, 1), { ["ü".repeat(32)]: "ü".repeat(256) }, pairs(32, 509)])
      expect(await withMetadata(metadata)).toBe("201");
    for (const metadata of [
      pairs(33, 1),
      { [`${"ü".repeat(32)}x`]: "" },
      { a: `${"ü".repeat(256)}x` },
      { "": "x" },
      pairs(32, 510),
    ])
      expect(await withMetadata(metadata)).toBe("400 INVALID_METADATA");
  });

  it("8 sessions: five minutes by default, eight unfinished ones for a registrar", async () => {
    const before = Date.now();
    const first = await enrollees.options(1, { id: "sessions" }, "busy");
    const ttl = Number(first.json["expiresAt"]) - before;
    expect(ttl).toBeGreaterThanOrEqual(300_000);
    expect(ttl).toBeLessThan(360_000);
    for (let count = 1; count < 8; count++)
      expect(told(await enrollees.options((count % 3) + 1, { id: "sessions" }, "busy"))).toBe("200");
    const ninth = await enrollees.options(2, { id: "sessions" }, "busy");
    expect([told(ninth), Number(ninth.headers.get("retry-after")) > 0]).toEqual(["429 SESSION_CAPACITY", true]);
    expect(told(await enrollees.options(2, { id: "sessions" }, "another"))).toBe("200");
  });

  it("8 sessions: 256 unexpired ones at the writer", async () => {
    const answers: Array<string> = [];
    while (!answers.includes("429 SESSION_CAPACITY") && answers.length < 257)
      answers.push(
        ...(await Promise.all(Array.from({ length: 8 }, async () => told(await enrollees.options(1, { id: "many" }))))),
      );
    expect(new Set(answers)).toEqual(new Set(["200", "429 SESSION_CAPACITY"]));
    const { json } = await cluster.get(1, "/v1/custody/system/status");
    expect(Object(json["detail"])).toMatchObject({ uncommitted: 0 });
  });
});

// These leave the cluster as other tests would not like it, so they come last.
describe("7 and 4.2 while a member is sealed", () => {
  beforeAll(async () => {
    await cluster.post(3, "/v1/custody/system/seal", {});
    await cluster.unready(1);
  });

  it("7 503 APPROVER_REPLICATION_UNAVAILABLE for every mutation and for options, and it names the member", async () => {
    for (const through of [1, 2, 3]) {
      const refused = await register(registration("unavailable"), through);
      expect([told(refused), refused.json["retryable"]]).toEqual(["503 APPROVER_REPLICATION_UNAVAILABLE", true]);
      expect(refused.json["members"]).toMatchObject([{ peerId: 3 }]);
    }
    const options = await cluster.post(1, OPTIONS, { id: "unavailable" }, may["register"]);
    expect(told(options)).toBe("503 APPROVER_REPLICATION_UNAVAILABLE");
  });

  it("4.2 the configuration is there, and reads go on elsewhere", async () => {
    expect(told(await cluster.get(3, CONFIG, may["nothing"]))).toBe("200");
    expect(told(await list("?limit=1", 3))).toBe("503 SEALED");
    expect(told(await list("?limit=1", 1))).toBe("200");
  });
});
