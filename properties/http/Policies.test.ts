/** POST /v1/custody/policies/resolve (contract 2.6, 7, 9.3) against three real peers. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secretKeyOf } from "../webauthn/Authenticator.ts";
import { Enrollees, enrollingElsewhere } from "./Enrollment.ts";
import { type Answered, freshKey64, registration, ServerCluster } from "./ServerCluster.ts";

const PATH = "/v1/custody/policies/resolve";

let cluster: ServerCluster;
/** Of a caller who may only read. */
let reader: string;
let alice: string;
let bob: string;
/** A passkey, and the key in it as a SIGNATURE credential. */
let carol: string;
let carolsKey: object;

const refOf = ({ json, text }: Answered): string => {
  if (typeof json["ref"] !== "string") throw new Error(text);
  return json["ref"];
};
const insisting = async (ask: () => Promise<Answered>): Promise<Answered> => {
  const answered = await ask();
  return answered.status === 503 && answered.json["retryable"] === true ? insisting(ask) : answered;
};

const alicesKey = freshKey64();
const signature = (publicKey64: string, algorithm = "ED25519") => ({ type: "SIGNATURE", algorithm, publicKey64 });

beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere());
  reader = await cluster.mint(["service.approvers.read"]);
  alice = refOf(await insisting(() => cluster.register(1, registration("alice", alicesKey))));
  bob = refOf(await insisting(() => cluster.register(2, registration("bob"))));
  const enrollees = new Enrollees(cluster);
  const offered = await enrollees.options(1, { id: "carol" });
  const credential = enrollees.credential(offered, "carol");
  carol = refOf(await enrollees.finish(3, { invitation: offered.invitation, credential }));
  carolsKey = signature(Buffer.from(p256.getPublicKey(secretKeyOf("carol"), true)).toString("base64"), "P256");
});
afterAll(() => cluster.close());

const resolve = (through: number, policy: unknown, token = reader) =>
  cluster.post(through, PATH, policy, { "x-jwt-token": token });
const fourEye = (...keys: ReadonlyArray<object>) => ({ fourEye: { mode: "STRICT", m: 1, n: keys.length, keys } });
const unknownRef = `nobody@sha256:${"0".repeat(64)}`;

describe("a policy", () => {
  it("resolves alike at every peer, with what each entry is and a digest that openssl computes too", async () => {
    const key = freshKey64();
    const policy = fourEye({ ref: alice }, { ref: carol }, signature(`MCowBQYDK2VwAyEA${key}`));
    const answers = await Promise.all([1, 2, 3].map((through) => resolve(through, policy)));
    const [first] = answers;
    expect(first?.json).toMatchObject({
      resolved: true,
      entries: [
        {
          pointer: "/fourEye/keys/0",
          ref: alice,
          resolved: true,
          id: "alice",
          type: "SIGNATURE",
          accepts: "SIGNATURE",
        },
        {
          pointer: "/fourEye/keys/1",
          ref: carol,
          resolved: true,
          id: "carol",
          type: "WEBAUTHN",
          algorithm: "ES256",
          credentialId: expect.stringMatching(/^[\w-]+$/),
          rpId: "example.org",
          accepts: "WEBAUTHN_ASSERTION",
        },
        { pointer: "/fourEye/keys/2", resolved: true, algorithm: "ED25519", accepts: "SIGNATURE" },
      ],
    });
    const json = `{"fourEye":{"keys":[{"ref":"${alice}"},{"ref":"${carol}"},{"algorithm":"ED25519","publicKey64":"${key}","type":"SIGNATURE"}],"m":1,"mode":"STRICT","n":3},"version":1}`;
    const digest = createHash("sha256").update(`SERVICE_POLICY_V1\0${json}`).digest("hex");
    expect(first?.json["policyDigest"]).toBe(`sha256:${digest}`);
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, first?.text]));
  });

  it("keeps its digest when an approver gets another version or other metadata", async () => {
    const before = (await resolve(1, fourEye({ ref: bob }))).json["policyDigest"];
    await insisting(() => cluster.register(1, registration("bob")));
    const replaced = await insisting(() => cluster.replace(3, bob, '"1"', { metadata: { team: "other" } }));
    expect(replaced.json).toMatchObject({ metadataRevision: 2 });
    expect((await resolve(1, fourEye({ ref: bob }))).json).toMatchObject({ resolved: true, policyDigest: before });
  });

  it("does not resolve while one pin does not, and still says what the others are", async () => {
    const { status, json } = await resolve(2, fourEye({ ref: alice }, { ref: unknownRef }));
    expect([status, json["resolved"], "policyDigest" in json]).toEqual([200, false, false]);
    expect(json["entries"]).toMatchObject([
      { ref: alice, resolved: true, id: "alice" },
      { pointer: "/fourEye/keys/1", ref: unknownRef, resolved: false, code: "approver_not_found" },
    ]);
  });

  it.each<[string, () => ReadonlyArray<object>]>([
    ["pinned twice", () => [{ ref: bob }, { ref: bob }]],
    ["pinned and inline", () => [{ ref: alice }, signature(alicesKey)]],
    ["as a passkey and inline", () => [{ ref: carol }, carolsKey]],
  ])("has no key twice: %s", async (_name, keys) => {
    const { json } = await resolve(3, fourEye(...keys()));
    expect(json).toMatchObject({
      resolved: false,
      entries: [{ resolved: true }, { resolved: false, code: "duplicate_key", duplicateOf: "/fourEye/keys/0" }],
    });
  });

  it("of an authority resolves with every approver it lists, or not at all", async () => {
    const manifest = (spare: string) => ({
      policy: {
        id: "eu-payout",
        fallback: "ALLOW_WITH_REQUIREMENTS",
        approvers: { cfo: { ref: alice }, spare: { ref: spare } },
        fallbackApprovals: { threshold: 1, approvers: ["cfo"] },
      },
    });
    expect((await resolve(1, manifest(bob))).json).toMatchObject({ resolved: true });
    expect((await resolve(1, manifest(unknownRef))).json).toMatchObject({
      resolved: false,
      entries: [{ resolved: true }, { pointer: "/policy/approvers/spare", code: "approver_not_found" }],
    });
  });

  it("that cannot be read is refused with every fault", async () => {
    const { status, json } = await resolve(1, {
      fourEye: { mode: "SOME", m: 2, n: 1, keys: [{ ref: "alice" }, signature("AAAA")] },
    });
    expect([status, json["code"]]).toEqual([400, "INVALID_REQUEST_BODY"]);
    expect(json["errors"]).toMatchObject([
      { pointer: "/fourEye/mode" },
      { pointer: "/fourEye/keys/0/ref" },
      { pointer: "/fourEye/m" },
      { pointer: "/fourEye/keys", code: "wrong_count" },
      { pointer: "/fourEye/keys/1/publicKey64", code: "invalid_key" },
    ]);
    expect((await resolve(1, '{"fourEye":{"m":1,"m":1}}')).json).toMatchObject({ errors: [{ code: "duplicate_key" }] });
  });
});

describe("the call", () => {
  it("needs the permission to read, and no other", async () => {
    const other = await cluster.mint(["service.approvers.register"]);
    expect((await resolve(1, fourEye({ ref: alice }), other)).json).toMatchObject({
      status: 403,
      code: "ACCESS_DENIED",
    });
    expect((await resolve(1, "no JSON", "")).json).toMatchObject({ status: 401 });
    expect((await cluster.get(1, PATH)).status).toBe(405);
  });

  it("takes 256 keys of the largest kind, and 2 MiB", async () => {
    const publicKey64 = Buffer.alloc(2592, 1).toString("base64");
    const many = fourEye(...Array.from({ length: 256 }, () => signature(publicKey64, "MLDSA87")));
    expect((await resolve(1, many)).json).toMatchObject({ resolved: false, entries: { length: 256 } });
    expect((await resolve(1, JSON.stringify(many).padEnd(2 * 1024 * 1024 + 1))).status).toBe(413);
  });

  it("lets others in between, while it examines the keys that take longest", async () => {
    const key = generateKeyPairSync("ed448").publicKey.export({ format: "der", type: "spki" }).toString("base64");
    const over = new AbortController();
    const keys = Array.from({ length: 256 }, () => signature(key, "ED448"));
    const examined = resolve(1, fourEye(...keys)).finally(() => over.abort());
    let answered = 0;
    while (!over.signal.aborted) {
      await cluster.get(1, "/v1/custody/system/health");
      answered += 1;
    }
    expect((await examined).json).toMatchObject({ entries: { length: 256 } });
    expect(answered).toBeGreaterThan(3);
  });

  it("does not wait for the policies of another caller, nor do lists and audit pages", async () => {
    const key = generateKeyPairSync("ed448").publicKey.export({ format: "der", type: "spki" }).toString("base64");
    const keys = Array.from({ length: 12 }, () => signature(key, "ED448"));
    let greedy = 0;
    const examined = Array.from({ length: 20 }, async () => {
      const { status } = await resolve(1, fourEye(...keys));
      greedy += 1;
      return status;
    });
    const other = await cluster.mint(["service.approvers.read", "service.audit.read"], undefined, undefined, "another");
    const asks = [
      () => resolve(1, fourEye({ ref: alice }), other),
      () => cluster.get(1, "/v1/custody/approvers?limit=1", { "x-jwt-token": other }),
      () => cluster.get(1, "/v1/custody/audit?limit=1", { "x-jwt-token": other }),
    ];
    for (const ask of asks) expect((await ask()).status).toBe(200);
    expect(greedy).toBeLessThan(10);
    expect(await Promise.all(examined)).toEqual(examined.map(() => 200));
  });

  it("is refused as a read is: not initialized, sealed", async () => {
    const fresh = await ServerCluster.start(1);
    const token = await fresh.mint(["service.approvers.read"]);
    const ask = () => fresh.post(1, PATH, fourEye(signature(alicesKey)), { "x-jwt-token": token });
    expect((await ask()).json).toMatchObject({ status: 503, code: "NOT_INITIALIZED" });
    await fresh.initialize(1);
    expect((await ask()).json).toMatchObject({ status: 503, code: "SEALED" });
    await fresh.unseal(1);
    expect((await ask()).json).toMatchObject({ resolved: true });
    await fresh.close();
  });
});

describe("a descriptor that was changed on one peer's disk", () => {
  it("does not resolve there, does elsewhere, and stops that peer from signing", async () => {
    const policy = fourEye({ ref: alice }, { ref: carol });
    // A row that this peer sealed, with its seal, under another ref.
    const other = "SELECT row, seal FROM records WHERE name = 'approvers' AND key = ?";
    const swapped = `UPDATE records SET (row, seal) = (${other}) WHERE name = 'approvers' AND key = ?`;
    await cluster.tamper(2, swapped, [bob, alice]);
    expect((await resolve(2, policy)).json).toMatchObject({
      resolved: false,
      entries: [
        { ref: alice, resolved: false, code: "integrity_failure" },
        { ref: carol, resolved: true },
      ],
    });
    for (const through of [1, 3]) expect((await resolve(through, policy)).json).toMatchObject({ resolved: true });
    await cluster.unready(2);
  });
});
