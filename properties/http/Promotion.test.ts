/** An instance that is alone becomes a cluster of three, over HTTP and the command line: what operators see and do. */
import { createPublicKey, verify } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runInProcess } from "../cli/InProcess.ts";
import { filesIn, rowEnds } from "./DiskBytes.ts";
import { Enrollees, enrollingElsewhere, type Offered } from "./Enrollment.ts";
import { allPermissions, type Answered, registration, ServerCluster } from "./ServerCluster.ts";

const PATH = "/v1/custody/system/promotion";
const patience = { timeout: 60_000, interval: 50 };

let cluster: ServerCluster;
let enrollees: Enrollees;
/** Invitations from before the promotion: one that was used then, and one that was not. */
let used: Offered;
let open: Offered;
/** The end of the row in which the instance alone has its key, as its disk has it. */
let whole: Buffer;
/** What the instance answered to each registration. */
let written: ReadonlyArray<Answered>;
let targets: ReadonlyArray<{ readonly peerId: number; readonly url: string; readonly identityKey: string }>;

const identityKeyOf = async (id: number): Promise<string> => {
  const { json } = await cluster.get(id, "/v1/custody/system/status");
  return String(Reflect.get(Object(json["detail"]), "identityKey"));
};

const initialize = async (id: number, body: { readonly [name: string]: unknown }): Promise<Answered> => {
  const answered = await cluster.post(id, "/v1/custody/system/init", { peerId: id, ...body });
  const { shares64 } = answered.json;
  if (Array.isArray(shares64)) cluster.member(id).shares = shares64.map(String);
  return answered;
};

const KEYS = "/v1/custody/keys";
const createKey = (keyId: string, algorithm: string): Promise<Answered> =>
  cluster.post(1, KEYS, { keyId, algorithm, authorities: [{ id: "arbitrary" }] });

const message = Buffer.from("twelve ducats to the bearer");
const sign = (id: number): Promise<Answered> => {
  const artifact = { scheme: "EdDSA", data64: message.toString("base64") };
  return cluster.post(id, `${KEYS}/k1/sign`, { command: { type: "arbitrary", authorityId: "arbitrary", artifact } });
};

const finishOf = (offered: Offered, seed: string) => ({
  invitation: offered.invitation,
  credential: enrollees.credential(offered, seed),
});

const bytesOf = (value: unknown): Buffer => Buffer.from(String(value), "base64");

const inCluster = { threshold: 2, total: 3 };
const plan = (changes: { readonly [name: string]: unknown } = {}) => ({ ...inCluster, targets, ...changes });
const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}) => cluster.post(1, PATH, body, headers);

const numbersAt = async (id: number): Promise<unknown> => {
  const { json } = await cluster.get(id, "/v2/custody/config");
  return [json["threshold"], json["total"]];
};

const copyOfAlone = (): string => join(cluster.folder, "copy-of-alone");
/** Whether a file of the source has the key as the instance alone had it: rows, log or free pages. */
const hasWholeKey = (): boolean => filesIn(cluster.member(1).dataDir).some((file) => file.includes(whole));

const pointers = ({ json }: Answered): unknown => {
  const errors: unknown = json["errors"];
  return Array.isArray(errors) ? errors.map((each) => Reflect.get(Object(each), "pointer")) : errors;
};

beforeAll(async () => {
  cluster = await ServerCluster.start(3, enrollingElsewhere());
  enrollees = new Enrollees(cluster);
  expect((await initialize(1, { threshold: 1, total: 1 })).status).toBe(200);
  await cluster.unseal(1);
  await cluster.ready(1);
  written = [];
  for (const id of ["alice", "bob", "carol"]) written = [...written, await cluster.register(1, registration(id))];
  expect(written.map(({ status }) => status)).toEqual([201, 201, 201]);
  cluster.token = await cluster.mint([...allPermissions, "service.dkg.*", "service.key.*.*"]);
  expect((await createKey("k1", "ED25519")).status).toBe(201);
  const source = await identityKeyOf(1);

  const misplaced = await initialize(2, { ...inCluster, join: true });
  expect([misplaced.status, pointers(misplaced)]).toEqual([400, ["/join"]]);
  for (const id of [2, 3]) {
    await cluster.stop(id);
    const { configFile } = cluster.member(id);
    const text = readFileSync(configFile, "utf8");
    writeFileSync(configFile, text.replace("cluster:\n", `cluster:\n  source: {id: 1, identity-key: ${source}}\n`));
    await cluster.run(id);
    const unaware = await initialize(id, inCluster);
    expect([unaware.status, pointers(unaware)]).toEqual([400, ["/join"]]);
    expect((await initialize(id, { ...inCluster, join: true })).status).toBe(200);
    await cluster.unseal(id);
  }
  targets = await Promise.all(
    [2, 3].map(async (peerId) => ({
      peerId,
      url: `http://127.0.0.1:${cluster.member(peerId).peerPort}`,
      identityKey: await identityKeyOf(peerId),
    })),
  );
}, patience.timeout);
afterAll(() => cluster.close());

describe("before anything is pinned", () => {
  it("an instance that is alone says so, and targets belong to nothing", async () => {
    expect(await numbersAt(1)).toEqual([1, 1]);
    for (const id of [1, 2, 3]) expect((await cluster.get(id, PATH)).json).toEqual({ promotion: null });
    const { code, stderr } = await runInProcess(["promote", "status", "--url", cluster.server(1).url], {
      CUSTODY_TOKEN: cluster.token,
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("neither the source nor a target")]);
  });

  it("refuses whoever may not, and who may not answer for approvers", async () => {
    const only = async (permissions: ReadonlyArray<string>) =>
      (await ask(plan({ dryRun: true }), { "x-jwt-token": await cluster.mint(permissions) })).json["code"];
    expect(await only(["service.system.init"])).toBe("ACCESS_DENIED");
    expect(await only(["service.system.promote"])).toBe("ACCESS_DENIED");
    expect(await only(["service.system.promote", "service.approvers.register"])).toBe("ACCESS_DENIED");
    const enough = ["service.system.promote", "service.approvers.register", "service.approvers.metadata"];
    expect(await only(enough)).toBeUndefined();
  });

  const [two, three] = [0, 1];
  it.each<readonly [string, () => object, ReadonlyArray<string>]>([
    ["another total than there are members", () => plan({ total: 4 }), ["/total"]],
    ["more signers than members", () => plan({ threshold: 4 }), ["/threshold"]],
    [
      "another address than is configured",
      () => plan({ targets: [targets[two], { ...targets[three], url: "http://127.0.0.1:9" }] }),
      ["/targets/1/url"],
    ],
    [
      "a peer that nobody knows the address of",
      () => plan({ total: 2, targets: [{ ...targets[two], peerId: 9 }] }),
      ["/targets/0/peerId"],
    ],
    [
      "two peers with one key",
      () => plan({ targets: [{ ...targets[three], identityKey: targets[two]?.identityKey }, targets[two]] }),
      ["/targets/0/identityKey"],
    ],
    ["a word too many", () => plan({ urgent: true }), ["/urgent"]],
  ])("refuses %s, by its place", async (_what, body, wrong) => {
    const refused = await ask(body());
    expect([refused.status, pointers(refused)]).toEqual([400, wrong]);
  });

  it("tells what each target has against the plan", async () => {
    const [first] = targets;
    const refused = await ask({ threshold: 2, total: 2, targets: [first] });
    expect([refused.status, refused.json["code"], refused.json["members"]]).toEqual([
      409,
      "PROMOTION_REFUSED",
      [{ peerId: 2, reason: "it was initialized with the total 3" }],
    ]);
  });

  it(
    "takes one plan of two operators at once, and tells the other",
    async () => {
      // While a target is silent, whoever came first is waited for.
      await cluster.stop(3);
      const asked = await Promise.all([ask(plan({ dryRun: true })), ask(plan({ threshold: 3 }))]);
      const told = asked.map(({ status, json }) => [status, json["code"]]).toSorted();
      expect(told).toEqual([
        [409, "PROMOTION_REFUSED"],
        [409, "PROMOTION_UNDER_WAY"],
      ]);
      const other = asked.find(({ json }) => json["code"] === "PROMOTION_UNDER_WAY");
      expect(other?.json["detail"]).toMatch(
        /^Another promotion was asked for just now, to peers 1, 2, 3, of which [23] sign\.$/,
      );
      expect((await cluster.get(1, PATH)).json).toEqual({ promotion: null });
      await cluster.run(3);
      await cluster.unseal(3);
    },
    patience.timeout,
  );

  it("names keys that no members can share, until they are destroyed", async () => {
    expect((await createKey("p1", "P256")).status).toBe(201);
    const refused = await ask(plan({ dryRun: true }));
    expect([refused.status, refused.json["code"]]).toEqual([409, "KEYS_NOT_PROMOTABLE"]);
    expect(refused.json["detail"]).toContain(": p1.");
    const destroyed = await cluster.post(1, `${KEYS}/p1/destroy`, { baseGeneration: 1, generation: 1, final: true });
    expect(destroyed.status).toBe(200);
  });

  it("finds nothing in a dry run, and changes nothing", async () => {
    const found = await ask(plan({ dryRun: true }));
    expect([found.status, found.json]).toEqual([200, { promotion: null }]);
    expect((await cluster.get(2, PATH)).json).toEqual({ promotion: null });
    expect(await numbersAt(1)).toEqual([1, 1]);
    expect((await cluster.register(1, registration("dave"))).status).toBe(201);
  });
});

describe("a promotion", () => {
  it("is asked for while an invitation is open, and a copy of the disk is kept", async () => {
    used = await enrollees.options(1, { id: "erin" });
    open = await enrollees.options(1, { id: "frank" });
    expect((await enrollees.finish(1, finishOf(used, "erin"))).status).toBe(201);
    const { dataDir } = cluster.member(1);
    whole = (await rowEnds(dataDir, "shares", "k1"))[0] ?? expect.fail("the source has the key");
    await cluster.stop(1);
    cpSync(dataDir, copyOfAlone(), { recursive: true });
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.ready(1);
  });

  it(
    "moves everything, and every peer takes changes afterwards",
    async () => {
      const file = join(cluster.folder, "plan.yaml");
      const lines = targets.map(
        ({ peerId, url, identityKey }) => `  - {peer-id: ${peerId}, url: "${url}", identity-key: ${identityKey}}`,
      );
      writeFileSync(file, ["threshold: 2", "total: 3", "targets:", ...lines, ""].join("\n"));
      const custody = (...args: ReadonlyArray<string>) =>
        runInProcess(["promote", ...args, "--url", cluster.server(1).url], { CUSTODY_TOKEN: cluster.token });
      expect(await custody("--config", file, "--dry-run")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("Nothing is in the way"),
      });
      const done = await custody("--config", file, "--wait");
      expect([done.code, done.stderr]).toEqual([0, ""]);
      expect(done.stdout).toContain("Promotion of peer 1 to the cluster of peers 1, 2, 3, of which 2 sign: done.");
      for (const id of [1, 2, 3]) await cluster.ready(id);
      for (const id of [1, 2, 3]) expect(await numbersAt(id)).toEqual([2, 3]);
      for (const id of [1, 2, 3])
        for (const each of written) expect((await cluster.read(id, String(each.json["ref"]))).text).toBe(each.text);
      for (const id of [3, 2, 1]) expect((await cluster.register(id, registration(`after-${id}`))).status).toBe(201);
    },
    patience.timeout,
  );

  it("ends open invitations, and tokens go on", async () => {
    // Targets have never heard of it; the one that has says why it is over.
    const ended: ReadonlyArray<readonly [number, number, string]> = [
      [1, 410, "REGISTRATION_EXPIRED"],
      [2, 404, "REGISTRATION_NOT_FOUND"],
      [3, 404, "REGISTRATION_NOT_FOUND"],
    ];
    for (const [id, status, code] of ended) {
      const late = await enrollees.finish(id, finishOf(open, "frank"));
      expect([late.status, late.json["code"]]).toEqual([status, code]);
      expect((await enrollees.finish(id, finishOf(used, "erin"))).status).toBe(200);
    }
    const path = "/v1/custody/approvers/webauthn/registration/options";
    for (const id of [1, 2, 3])
      expect((await cluster.post(id, path, { id: "frank" }, { "x-jwt-token": open.token })).status).toBe(200);
  });

  it("leaves a key whole at the source until a refresh shares it, and then in none of its files", async () => {
    // A restart in between loses neither the key nor what is to become of it.
    await cluster.stop(1);
    expect(hasWholeKey()).toBe(true);
    await cluster.run(1);
    await cluster.unseal(1);
    await cluster.ready(2);
    for (const id of [1, 2, 3]) {
      const refused = await sign(id);
      expect([refused.status, refused.json["code"]]).toEqual([409, "KEY_UNSHARED"]);
    }
    const before = await cluster.get(3, `${KEYS}/k1/public`);
    const refreshed = await cluster.post(2, `${KEYS}/k1/refresh`, { baseGeneration: 1 });
    expect([refreshed.status, refreshed.json["currentGeneration"]]).toEqual([200, 2]);
    const key = createPublicKey({ key: bytesOf(before.json["spki64"]), format: "der", type: "spki" });
    for (const id of [1, 2, 3]) {
      const signed = await sign(id);
      expect(signed.status).toBe(200);
      expect(verify(null, message, key, bytesOf(signed.json["signature64"]))).toBe(true);
    }
    await vi.waitFor(() => expect(hasWholeKey()).toBe(false), patience);
  });

  it("is told at both ends, and in their audits", async () => {
    expect((await cluster.get(1, PATH)).json["promotion"]).toMatchObject({
      role: "source",
      stage: "DONE",
      installed: [2, 3],
    });
    expect((await cluster.get(3, PATH)).json["promotion"]).toMatchObject({
      role: "target",
      stage: "INSTALLED",
      here: 8,
    });
    const auditor = { "x-jwt-token": await cluster.mint(["service.audit.read"]) };
    const eventsAt = async (id: number): Promise<string> =>
      (await cluster.get(id, "/v1/custody/audit?limit=1000", auditor)).text;
    for (const event of ["PROMOTION_PINNED", "PROMOTION_DECIDED", "PROMOTION_DONE", "PROMOTE"])
      expect(await eventsAt(1)).toContain(`"event":"${event}"`);
    expect(await eventsAt(2)).toContain('"event":"PROMOTION_ACCEPTED"');
  });

  it("may be asked for again as it was, and in no other way", async () => {
    const again = await ask(plan());
    expect([again.status, Object(again.json["promotion"]).stage]).toEqual([200, "DONE"]);
    const other = await ask(plan({ threshold: 3 }));
    expect([other.status, other.json["code"]]).toEqual([409, "PROMOTION_UNDER_WAY"]);
    const atTarget = await cluster.post(2, PATH, plan({ targets: [] }));
    expect(atTarget.status).toBe(400);
  });

  it(
    "is over for good: every peer comes back as a member of the cluster",
    async () => {
      for (const id of [1, 2, 3]) await cluster.stop(id);
      expect(hasWholeKey()).toBe(false);
      for (const id of [1, 2, 3]) await cluster.run(id);
      for (const id of [1, 2, 3]) await cluster.unseal(id);
      await vi.waitFor(
        async () => expect((await cluster.get(1, "/v1/custody/system/ready")).status).toBe(200),
        patience,
      );
      expect((await cluster.register(2, registration("later"))).status).toBe(201);
    },
    patience.timeout,
  );

  it(
    "is learned again by a disk of the instance alone, which is restored once that is declared, and loses the whole key",
    async () => {
      const { dataDir } = cluster.member(1);
      await cluster.stop(1);
      rmSync(dataDir, { recursive: true });
      cpSync(copyOfAlone(), dataDir, { recursive: true });
      expect(hasWholeKey()).toBe(true);
      await cluster.run(1);
      await cluster.unseal(1);
      const quarantine = async (): Promise<unknown> => {
        const { json } = await cluster.get(1, "/v1/custody/system/status");
        return Reflect.get(Object(json["detail"]), "quarantine");
      };
      await vi.waitFor(
        async () => expect(await quarantine()).toEqual(expect.stringContaining("decided the promotion")),
        patience,
      );
      expect((await cluster.post(1, "/v1/custody/system/restore", {})).status).toBe(200);
      for (const id of [1, 2, 3]) await cluster.ready(id);
      for (const each of written) expect((await cluster.read(1, String(each.json["ref"]))).text).toBe(each.text);
      expect((await cluster.register(1, registration("latest"))).status).toBe(201);
      expect((await sign(3)).status).toBe(200);
      await vi.waitFor(() => expect(hasWholeKey()).toBe(false), patience);
      await cluster.stop(1);
      expect(hasWholeKey()).toBe(false);
    },
    patience.timeout,
  );
});
