/** Old disks and new keys, over HTTP and the command line: what an operator sees and does. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runInProcess } from "../cli/InProcess.ts";
import { bootstrapSecret, registration, ServerCluster } from "./ServerCluster.ts";

/** Long enough for a busy machine; nothing here depends on how long it takes. */
const patience = { timeout: 60_000, interval: 100 };

let cluster: ServerCluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

const refOf = (answered: { readonly json: { readonly [name: string]: unknown } }): string =>
  String(answered.json["ref"]);

const custody = (of: ServerCluster, id: number, command: string) =>
  runInProcess([command, "--url", of.server(id).url, "--json"], { CUSTODY_TOKEN: of.token });

const detailOf = async (of: ServerCluster, id: number): Promise<{ readonly [name: string]: unknown }> =>
  Object(Reflect.get((await of.get(id, "/v1/custody/system/status")).json, "detail"));

describe("a peer whose data folder is put back from an old copy", () => {
  it(
    "is refused by name, and is a member with equal rows again once the restore is declared",
    async () => {
      const of = (cluster = await ServerCluster.found(3));
      const { dataDir } = of.member(2);
      const copy = join(of.folder, "copy");
      const written = [await of.register(1, registration("before"))];
      await of.stop(2);
      cpSync(dataDir, copy, { recursive: true });
      await of.run(2);
      await of.unseal(2);
      // Peer 1 may still know it from before: probes are good for a second.
      await of.ready(2);
      written.push(await of.register(3, registration("between")));
      expect(written.map(({ status }) => status)).toEqual([201, 201]);

      await of.stop(2);
      rmSync(dataDir, { recursive: true });
      cpSync(copy, dataDir, { recursive: true });
      await of.run(2);
      await of.unseal(2);
      await vi.waitFor(async () => expect((await detailOf(of, 2))["quarantine"]).toEqual(expect.any(String)), patience);
      await of.unready(1);
      // What it would read is of an old disk: it shows nothing of the registry, and balancers send no reads there.
      const readable = () => of.get(2, "/v1/custody/system/readable");
      const keys = written.map((each) => ({ ref: refOf(each) }));
      const policy = { fourEye: { mode: "STRICT", m: 1, n: keys.length, keys } };
      const reads = () =>
        Promise.all([
          readable(),
          ...written.map((each) => of.read(2, refOf(each))),
          of.get(2, "/v1/custody/approvers"),
          of.post(2, "/v1/custody/policies/resolve", policy),
        ]);
      for (const refused of await reads())
        expect(refused).toMatchObject({ status: 503, json: { code: "OUTDATED", retryable: true } });
      const auditor = { "x-jwt-token": await of.mint(["service.audit.read"]) };
      expect((await of.get(2, "/v1/custody/audit", auditor)).status).toBe(200);
      for (const each of written) expect((await of.read(3, refOf(each))).text).toBe(each.text);
      for (const through of [1, 3]) {
        const refused = await of.register(through, registration("refused"));
        expect([refused.status, refused.json["members"]]).toEqual([503, [{ peerId: 2, reason: "it is quarantined" }]]);
      }

      const declared = await custody(of, 2, "restore");
      expect(declared.stderr).toBe("");
      expect([declared.code, JSON.parse(declared.stdout)]).toMatchObject([0, { state: "UNSEALED" }]);
      await vi.waitFor(async () => {
        const { quarantine, recovering } = await detailOf(of, 2);
        expect([quarantine, recovering]).toEqual([undefined, undefined]);
      }, patience);
      for (const answered of await reads()) expect(answered.status).toBe(200);
      await of.ready(1);
      written.push(await of.register(2, registration("after")));
      for (const id of of.ids)
        for (const each of written) expect((await of.read(id, refOf(each))).text).toBe(each.text);
    },
    patience.timeout,
  );
});

describe("a peer whose data folder is put back as it was before the founding", () => {
  it(
    "starts without the secret, is shown its cluster, and is restored as was declared while it was sealed",
    async () => {
      const of = (cluster = await ServerCluster.start(2));
      const { dataDir } = of.member(2);
      const copy = join(of.folder, "copy");
      for (const id of of.ids) await of.initialize(id);
      await of.stop(2);
      cpSync(dataDir, copy, { recursive: true });
      await of.run(2, { CUSTODY_BOOTSTRAP_SECRET: bootstrapSecret });
      for (const id of of.ids) await of.unseal(id);
      for (const id of of.ids) await of.ready(id);
      const written = await of.register(1, registration("before"));
      expect(written.status).toBe(201);

      await of.stop(2);
      rmSync(dataDir, { recursive: true });
      cpSync(copy, dataDir, { recursive: true });
      await of.run(2);
      expect((await custody(of, 2, "restore")).code).toBe(0);
      await of.unseal(2);
      await of.ready(2);
      expect((await of.read(2, refOf(written))).text).toBe(written.text);
    },
    patience.timeout,
  );
});

describe("a peer with a new integrity key", () => {
  it(
    "keeps what the old one sealed, and signs nothing when the history is incomplete",
    async () => {
      const of = (cluster = await ServerCluster.found(1));
      const old = await of.register(1, registration("old"));
      const rotated = await custody(of, 1, "rotate-integrity");
      expect(rotated.stderr).toBe("");
      expect([rotated.code, JSON.parse(rotated.stdout)]).toEqual([0, { integrityKeyVersion: 2 }]);
      const young = await of.register(1, registration("young"));
      const restart = async (): Promise<void> => {
        await of.run(1);
        await of.unseal(1);
      };
      await of.stop(1);
      await restart();
      await of.ready(1);
      expect(await detailOf(of, 1)).toMatchObject({ integrityKeyVersion: 2 });
      for (const each of [old, young]) expect((await of.read(1, refOf(each))).text).toBe(each.text);

      await of.stop(1);
      await of.tamper(1, "DELETE FROM working WHERE name = 'integrity'");
      await restart();
      expect((await of.read(1, refOf(old))).text).toBe(old.text);
      expect((await of.read(1, refOf(young))).json["code"]).toBe("INTEGRITY_FAILURE");
      const refused = await of.register(1, registration("later"));
      expect(refused.json).toMatchObject({ members: [{ peerId: 1, reason: "its stored records do not hold" }] });
      expect((await of.post(1, "/v1/custody/system/integrity/rotate", {})).json["code"]).toBe("INTEGRITY_FAILURE");
    },
    patience.timeout,
  );

  it("is given to nobody while it is sealed, or without the permission", async () => {
    const of = (cluster = await ServerCluster.start(1));
    const rotate = (headers = {}) => of.post(1, "/v1/custody/system/integrity/rotate", {}, headers);
    expect((await rotate()).json["code"]).toBe("NOT_INITIALIZED");
    await of.initialize(1);
    expect((await rotate()).json["code"]).toBe("SEALED");
    expect((await rotate({ "x-jwt-token": await of.mint(["service.system.seal"]) })).status).toBe(403);
  });
});
