import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { p256 } from "@noble/curves/nist.js";
import { Either } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { type CredentialJson, type Making, none, packedSelf, secretKeyOf } from "../webauthn/Authenticator.ts";
import { bitFlips } from "../webauthn/BitFlips.ts";
import { refusedRegistrations } from "../webauthn/RefusedRegistrations.ts";
import { relyingPartyOf, verifyFinish } from "../webauthn/Verification.ts";
import { Enrollees, enrollingElsewhere, leftBehind, type Offered } from "./Enrollment.ts";
import { absentVectors, liveVectors, vectorsAreAbsent } from "./LiveVectors.ts";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
let enrollees: Enrollees;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere("attestation: direct"));
  enrollees = new Enrollees(cluster);
});
afterAll(async () => {
  await cluster.close();
});

const codeOf = ({ status, json }: Answered): readonly [number, unknown] => [status, json["code"]];
const refOf = ({ json }: Answered): string => String(json["ref"]);

/** One session of many, and a holder of its invitation. */
interface Held extends Offered {
  readonly holder: string;
  readonly credential: (making?: Partial<Making>) => CredentialJson;
}

/** So many sessions, since only a few wrong responses of each are looked at. */
const offered = async (name: string, count: number): Promise<ReadonlyArray<Held>> => {
  const sessions: Array<Held> = [];
  for (let index = 0; index < count; index++) {
    const id = `${name}-${index}`;
    const offer = await enrollees.options(1, { id });
    sessions.push({ ...offer, holder: id, credential: (making = {}) => enrollees.credential(offer, id, making) });
  }
  return sessions;
};
const inTurn = (sessions: ReadonlyArray<Held>, index: number): Held => {
  const session = sessions[index % sessions.length];
  if (session === undefined) throw new Error("there is no session");
  return session;
};
const honestly = ({ invitation, credential }: Held): Promise<Answered> =>
  enrollees.finish(3, { invitation, credential: credential() });

/** Recursively sorted keys, without white space: RFC 8785 for what a descriptor holds. */
const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, each]) => [key, sorted(each)]),
      )
    : value;

describe("an enrollment over HTTP", () => {
  it("takes options from one peer, is finished at another and read at a third", async () => {
    const before = Date.now();
    const offered = await enrollees.options(1, { id: "alice", metadata: { team: "a" } });
    expect(offered.status).toBe(200);
    expect(Object.keys(offered.json)).toEqual(["registrationId", "invitation", "expiresAt", "publicKey"]);
    const expiresAt = Number(offered.json["expiresAt"]);
    expect(expiresAt).toBeGreaterThanOrEqual(before + 300_000);
    expect(offered.headers.get("x-expires-at")).toBe(String(Math.floor(expiresAt / 1000)));
    expect(offered.headers.get("cache-control")).toBe("no-store");
    const user = { name: "alice", displayName: "alice", id: expect.stringMatching(/^[\w-]{43}$/) };
    expect(offered.json["publicKey"]).toMatchObject({
      rp: { id: "example.org", name: "Test Custody" },
      user,
      attestation: "direct",
      excludeCredentials: [],
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    });
    const flags = 0x4d;
    const making = { attestation: packedSelf, signCount: 41, flags, aaguid: new Uint8Array(16).fill(9) };
    const credential = enrollees.credential(offered, "alice", making);
    const created = await enrollees.finish(2, { invitation: offered.invitation, credential });
    expect(created.status).toBe(201);
    expect(created.headers.get("etag")).toBe('"1"');
    expect(Object.keys(created.json)).toEqual([
      "id",
      "ref",
      "credential",
      "observations",
      "metadata",
      "metadataRevision",
      "createdAt",
      "updatedAt",
    ]);
    expect(created.json).toMatchObject({
      id: "alice",
      metadata: { team: "a" },
      metadataRevision: 1,
      observations: {
        signCount: 41,
        backupState: false,
        transports: ["nfc", "usb"],
        aaguid: Buffer.alloc(16, 9).toString("base64url"),
      },
    });
    const shown = Object(created.json["credential"]);
    expect(shown).toEqual({
      version: 1,
      type: "WEBAUTHN",
      algorithm: "ES256",
      credentialId: credential.id,
      publicKeyCose: expect.stringMatching(/^[\w-]{103}$/),
      rpId: "example.org",
      origins: ["https://a.example.org", "https://example.org"],
      userVerification: "REQUIRED",
      userHandle: Object(Object(offered.json["publicKey"]).user).id,
      backupEligible: true,
    });
    // The ref, computed by hand from what is shown: every field of the descriptor, and not the algorithm.
    const { algorithm: _, ...digested } = shown;
    const preimage = `SERVICE_APPROVER_V1\0${JSON.stringify(sorted(digested))}`;
    expect(refOf(created)).toBe(`alice@sha256:${createHash("sha256").update(preimage).digest("hex")}`);
    for (const from of [1, 2, 3]) {
      const read = await cluster.read(from, refOf(created));
      expect([read.status, read.text, read.headers.get("etag")]).toEqual([200, created.text, '"1"']);
    }
  });

  it("answers the same response 200, another one 409, and a registrationId, or what is no invitation, not at all", async () => {
    const offered = await enrollees.options(3, { id: "bob" });
    const { invitation, registrationId } = offered;
    const credential = enrollees.credential(offered, "bob");
    const stranger = Buffer.alloc(32, 7).toString("base64url");
    for (const wrong of [registrationId, stranger])
      expect(codeOf(await enrollees.finish(1, { invitation: wrong, credential }))).toEqual([
        404,
        "REGISTRATION_NOT_FOUND",
      ]);
    const malformed = await enrollees.finish(1, { invitation: "short", credential });
    expect(codeOf(malformed)).toEqual([400, "INVALID_CEREMONY"]);
    expect(malformed.json["errors"]).toMatchObject([{ pointer: "/invitation", code: "invitation" }]);
    const created = await enrollees.finish(2, { invitation, credential });
    expect(created.status).toBe(201);
    for (const through of [1, 2, 3]) {
      const again = await enrollees.finish(through, { credential, invitation });
      expect([again.status, again.text]).toEqual([200, created.text]);
    }
    const other = { invitation, credential: enrollees.credential(offered, "other") };
    expect(codeOf(await enrollees.finish(3, other))).toEqual([409, "REGISTRATION_COMPLETED"]);
  });

  it("lists known credentials, and lets none be registered twice", async () => {
    const first = await enrollees.options(1, { id: "carol" });
    const credential = enrollees.credential(first, "carol");
    expect((await enrollees.finish(1, { invitation: first.invitation, credential })).status).toBe(201);
    const second = await enrollees.options(2, { id: "carol" });
    expect(Object(second.json["publicKey"]).excludeCredentials).toEqual([{ type: "public-key", id: credential.id }]);
    const twice = { invitation: second.invitation, credential: enrollees.credential(second, "carol") };
    expect(codeOf(await enrollees.finish(3, twice))).toEqual([409, "CREDENTIAL_ALREADY_REGISTERED"]);
    // The session is still good, as it would be after any other refusal.
    const another = { invitation: second.invitation, credential: enrollees.credential(second, "carol-2") };
    expect((await enrollees.finish(3, another)).status).toBe(201);
  });

  it("is asked for with the permission, and finished with any valid token", async () => {
    const path = "/v1/custody/approvers/webauthn/registration";
    const none = { "x-jwt-token": await enrollees.token([]) };
    expect(codeOf(await cluster.post(2, `${path}/options`, { id: "dave" }, none))).toEqual([403, "ACCESS_DENIED"]);
    const offered = await enrollees.options(2, { id: "dave" });
    const body = { invitation: offered.invitation, credential: enrollees.credential(offered, "dave") };
    const refused = await cluster.post(1, `${path}/finish`, body, { "x-jwt-token": "no.such.token" });
    expect(codeOf(refused)).toEqual([401, "UNAUTHENTICATED"]);
    const spent = await cluster.mint([], 2_000);
    enrollees.tokens.push(spent);
    // Less of it is left than the writer needs: that is its own refusal, and the invitation is as good as before.
    expect((await cluster.post(1, `${path}/finish`, body, { "x-jwt-token": spent })).status).toBe(401);
    expect((await enrollees.finish(1, body)).status).toBe(201);
  });

  it("takes no invitation for a token, neither for itself nor for the configuration", async () => {
    const offered = await enrollees.options(1, { id: "erin" });
    const { invitation } = offered;
    const body = { invitation, credential: enrollees.credential(offered, "erin") };
    const path = "/v1/custody/approvers/webauthn/registration/finish";
    const asToken = { "x-jwt-token": invitation };
    expect(codeOf(await cluster.post(2, path, body, asToken))).toEqual([401, "UNAUTHENTICATED"]);
    expect(codeOf(await cluster.get(2, "/v2/custody/config", asToken))).toEqual([401, "UNAUTHENTICATED"]);
    const headers = { "content-type": "application/json" };
    const bare = { method: "POST", headers, body: JSON.stringify(body) };
    expect((await fetch(`${cluster.server(2).url}${path}`, bare)).status).toBe(401);
    expect((await enrollees.finish(2, body)).status).toBe(201);
  });

  it("is for the configured relying party, whatever Host and the headers of proxies say", async () => {
    const { hostname, port } = new URL(cluster.server(2).url);
    const headers = {
      host: "evil.example",
      origin: "https://evil.example",
      forwarded: "host=evil.example;proto=https",
      "x-forwarded-host": "evil.example",
      "x-jwt-token": cluster.token,
      "content-type": "application/json",
    };
    const path = "/v1/custody/approvers/webauthn/registration/options";
    const call = request({ hostname, port, method: "POST", path, headers });
    call.end('{"id":"frank"}');
    const chunks: Array<Uint8Array> = [];
    const [response] = await once(call, "response");
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const offered = JSON.parse(text);
    enrollees.invitations.push(offered.invitation);
    expect(offered.publicKey.rp).toEqual({ id: "example.org", name: "Test Custody" });
    expect(text).not.toContain("evil");
    // The same deadline through a peer that had to ask the writer.
    expect(response.headers["x-expires-at"]).toBe(String(Math.floor(offered.expiresAt / 1000)));
  });

  it("takes strict bodies of a bounded length, by POST alone", async () => {
    const path = "/v1/custody/approvers/webauthn/registration";
    for (const body of [
      '{"id":"a","id":"b"}',
      '{"id":"a","more":1}',
      '{"id":null}',
      '{"id":"-"}',
      "[]",
      '{"id":"a"}x',
      "",
    ])
      expect([body, ...codeOf(await cluster.post(1, `${path}/options`, body))]).toEqual([
        body,
        400,
        "INVALID_REQUEST_BODY",
      ]);
    const tooMuch = { id: "a", metadata: { key: "v".repeat(513) } };
    expect(codeOf(await cluster.post(1, `${path}/options`, tooMuch))).toEqual([400, "INVALID_METADATA"]);
    for (const last of ["options", "finish"]) {
      const padded = (bytes: number): string => `{"id":"-"}`.padEnd(bytes, " ");
      const [inside, outside] = [padded(256 * 1024), padded(256 * 1024 + 1)];
      expect(codeOf(await cluster.post(1, `${path}/${last}`, inside))).toEqual([400, "INVALID_REQUEST_BODY"]);
      expect(codeOf(await cluster.post(1, `${path}/${last}`, outside))).toEqual([413, "BODY_TOO_LARGE"]);
      const text = await cluster.post(1, `${path}/${last}`, "{}", { "content-type": "text/plain" });
      expect(codeOf(text)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      const got = await cluster.get(1, `${path}/${last}`);
      expect([...codeOf(got), got.headers.get("allow")]).toEqual([405, "METHOD_NOT_ALLOWED", "POST"]);
    }
  });

  it("has room for eight unfinished sessions of one registrar", async () => {
    const ask = () => enrollees.options(2, { id: "many" }, "busy");
    const offers = [await ask(), ...(await Promise.all(Array.from({ length: 7 }, ask)))];
    expect(offers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const ninth = await ask();
    expect(codeOf(ninth)).toEqual([429, "SESSION_CAPACITY"]);
    expect(Number(ninth.headers.get("retry-after"))).toBeGreaterThanOrEqual(30);
    expect((await enrollees.options(2, { id: "many" }, "idle")).status).toBe(200);
    const [first] = offers;
    if (first === undefined) return expect.unreachable("eight sessions were opened");
    const body = { invitation: first.invitation, credential: enrollees.credential(first, "many") };
    expect((await enrollees.finish(1, body)).status).toBe(201);
    expect((await ask()).status).toBe(200);
  });

  it("refuses every registration of the corpus, each for its own reason, with invitations that are good afterwards", async () => {
    const offers = await offered("corpus", 13);
    const corpus = refusedRegistrations((index) => {
      const { invitation, challenge } = inTurn(offers, index);
      return { invitation, challenge, origin: "https://example.org", rpId: "example.org" };
    });
    expect(corpus.length).toBeGreaterThanOrEqual(200);
    const sent = corpus.map(({ code, body }, index) => ({ code, body, holder: inTurn(offers, index).holder }));
    expect(await enrollees.notRefused(sent)).toEqual([]);
    for (const offer of offers) expect((await honestly(offer)).status).toBe(201);
  });

  it.each([none, packedSelf])(
    "refuses flips of single bits in a response of format $format, fails over none, and takes the honest one afterwards",
    async (attestation) => {
      const offers = await offered(`flipped-${attestation.format}`, 24);
      const relyingParty = relyingPartyOf({ origins: ["https://a.example.org", "https://example.org"] });
      // One bit of every byte, a different one each time. Flips that nothing vouches for in format none would finish.
      const flips = offers.flatMap(({ invitation, challenge, credential, holder }, turn) => {
        const session = { relyingParty, challenge, userHandle: challenge };
        return bitFlips(invitation, credential({ attestation }), (at) => [1 << (at % 8)])
          .filter((_, index) => index % offers.length === turn)
          .map(({ body }) => {
            // The verifier's answer to the response alone: "accepted", or the code of the first error.
            const code = Either.match(verifyFinish(nativeCeremonyCrypto, session, body), {
              onLeft: (first) => first,
              onRight: () => "accepted",
            });
            return { body, code, holder };
          });
      });
      const refused = flips.filter(({ code }) => code !== "accepted");
      expect(flips.length).toBeGreaterThan(300);
      expect(refused.length).toBeGreaterThan(flips.length - (attestation === none ? 60 : 1));
      expect(await enrollees.notRefused(refused)).toEqual([]);
      for (const offer of offers) expect((await honestly(offer)).status).toBe(201);
    },
  );

  it("tells who has been refused too often when to come back, and lets others in", async () => {
    const [offer, other] = await offered("too-often", 2);
    if (offer === undefined || other === undefined) return expect.unreachable();
    const wrong = { invitation: offer.invitation, credential: offer.credential({ flags: 0x41 }) };
    const answers = [];
    for (let count = 0; count <= CAPACITIES.refusedFinishes; count++)
      answers.push(await enrollees.finishOnce(2, wrong, offer.holder));
    const last = answers.at(-1);
    expect(answers.slice(0, -1).every(({ status }) => status === 400)).toBe(true);
    expect(last && [...codeOf(last), last.json["retryable"]]).toEqual([429, "TOO_MANY_ATTEMPTS", true]);
    expect(Number(last?.headers.get("retry-after"))).toBeGreaterThanOrEqual(10);
    expect((await honestly(other)).status).toBe(201);
    // The invitation is as good as before: another peer has not refused it.
    expect((await honestly(offer)).status).toBe(201);
  });

  it("takes and refuses the W3C's vectors as they are labelled, signed again for a live challenge", async ({
    skip,
  }) => {
    skip(vectorsAreAbsent, absentVectors);
    const vectors = liveVectors();
    expect(vectors.filter(({ isAccepted }) => isAccepted).length).toBeGreaterThanOrEqual(4);
    expect(vectors.length).toBeGreaterThanOrEqual(15);
    for (const [index, { id, isAccepted, codes, answer }] of vectors.entries()) {
      const offered = await enrollees.options((index % 3) + 1, { id: `vector-${index}` });
      const body = { invitation: offered.invitation, credential: answer(offered.challenge) };
      const { status, json } = await enrollees.finish(((index + 1) % 3) + 1, body);
      const [first] = Array.isArray(json["errors"]) ? json["errors"] : [];
      const refusedFor: unknown = Object(first).code;
      expect({ id, status, refusedFor }).toEqual({
        id,
        status: isAccepted ? 201 : 400,
        refusedFor: isAccepted ? undefined : expect.toSatisfy((code) => codes.includes(String(code))),
      });
    }
  });

  it("gives one key one owner, in a hundred races of a passkey and a public key", async () => {
    const race = async (index: number): Promise<void> => {
      const seed = `race-${index}`;
      const offered = await enrollees.options((index % 3) + 1, { id: `${seed}-passkey` });
      const credential = enrollees.credential(offered, seed);
      const publicKey64 = Buffer.from(p256.getPublicKey(secretKeyOf(seed), index % 2 === 0)).toString("base64");
      const body = registration(`${seed}-key`, publicKey64);
      const bare = { ...body, credential: { ...body.credential, algorithm: "P256" } };
      const register = async (): Promise<Answered> => {
        const answered = await cluster.register(((index + 1) % 3) + 1, bare);
        return answered.status === 503 && answered.json["retryable"] === true ? register() : answered;
      };
      const answers = await Promise.all([
        enrollees.finish(((index + 2) % 3) + 1, { invitation: offered.invitation, credential }),
        register(),
      ]);
      // A caller that had to ask again on a busy machine may find what its first request did.
      const won = answers.filter(({ status }) => status === 201 || status === 200);
      const lost = answers.filter(({ status }) => status === 409);
      expect([index, won.length, lost.map(({ json }) => json["code"])]).toEqual([index, 1, ["KEY_ALREADY_REGISTERED"]]);
    };
    const lanes = Array.from({ length: 20 }, async (_, lane) => {
      for (let index = lane; index < 100; index += 20) await race(index);
    });
    await Promise.all(lanes);
  });

  it("leaves neither invitation nor token in a database, the audit or a log", () => {
    const everywhere = leftBehind(cluster);
    // The search finds what is there: the hash by which every session is known, the log's own lines, and a secret.
    const [known] = enrollees.registrationIds;
    expect(everywhere.includes(Buffer.from(known ?? "", "base64url").toString("hex"))).toBe(true);
    expect(everywhere.includes('"event":"request"')).toBe(true);
    expect(enrollees.invitations.length).toBeGreaterThan(110);
    for (const secret of [...enrollees.invitations, ...enrollees.tokens])
      expect(enrollees.secretsIn(Buffer.from(`a word before ${secret}`))).toContain(secret);
    expect(enrollees.secretsIn(everywhere)).toEqual([]);
  });
});
