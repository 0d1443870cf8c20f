import { armor, Decrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { afterEach, describe, expect, it } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

const opened: Array<ServerCluster> = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((cluster) => cluster.close()));
});
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(cluster);
  return cluster;
};

const system = "/v1/custody/system";
const post = async (cluster: ServerCluster, path: string, body: unknown) =>
  (await cluster.post(1, `${system}/${path}`, body)).json;
const status = async (cluster: ServerCluster) => (await cluster.get(1, `${system}/status`)).json;
const texts = (value: unknown): ReadonlyArray<string> => (value as ReadonlyArray<unknown>).map(String);

describe("an unseal", () => {
  it("shows how far it is to whoever may go on with it, and forgets its shares when told so", async () => {
    const cluster = track(await ServerCluster.start(1));
    await cluster.initialize(1);
    const [first, second] = cluster.member(1).shares;
    expect(await status(cluster)).toMatchObject({ state: "SEALED", unsealing: { have: 0, need: 2 } });
    await post(cluster, "unseal", { share64: first });
    expect(await status(cluster)).toMatchObject({ unsealing: { have: 1, need: 2 } });
    const holder = await cluster.mint(["service.system.unseal"]);
    const reader = await cluster.mint(["service.approvers.read"]);
    const as = async (token: string) => (await cluster.get(1, `${system}/status`, { "x-jwt-token": token })).json;
    expect(await as(holder)).toEqual({ state: "SEALED", unsealing: { have: 1, need: 2 } });
    expect(await as(reader)).toEqual({ state: "SEALED" });
    expect(await post(cluster, "unseal", { reset: true })).toEqual({ state: "SEALED", have: 0, need: 2 });
    expect(await status(cluster)).toMatchObject({ unsealing: { have: 0, need: 2 } });
    for (const body of [{}, { reset: false }, { reset: true, share64: first }])
      expect((await post(cluster, "unseal", body))["code"]).toBe("INVALID_REQUEST_BODY");
    await post(cluster, "unseal", { share64: second });
    expect(await post(cluster, "unseal", { share64: first })).toEqual({ state: "UNSEALED", have: 2, need: 2 });
    expect(await status(cluster)).not.toHaveProperty("unsealing");
  });
});

const ofTheSetInUse = {
  status: 409,
  code: "REKEY_STEP",
  detail: expect.stringContaining("is of the set that unseals this peer") as string,
};
const ofAnotherSet = {
  status: 409,
  code: "REKEY_STEP",
  detail: expect.stringContaining("is not of the set that unseals this peer") as string,
};

describe("a rekey", () => {
  it("makes new shares for the same keys, and the present ones worthless once the new ones are confirmed", async () => {
    const cluster = track(await ServerCluster.found(1));
    const created = await cluster.register(1, registration("alice"));
    const present = cluster.member(1).shares;
    // Nobody may take the shares that a rekey was to replace for those that it made.
    expect(await post(cluster, "rekey", { share64: present[0] })).toMatchObject(ofTheSetInUse);
    expect(await post(cluster, "rekey", { start: true, shares: 4, threshold: 3 })).toEqual({
      step: "PRESENT_SHARES",
      have: 0,
      need: 2,
      shares: 4,
      threshold: 3,
    });
    expect(await post(cluster, "rekey", { start: true })).toMatchObject({ code: "REKEY_STEP" });
    await post(cluster, "rekey", { share64: present[0] });
    expect(await status(cluster)).toMatchObject({ rekey: { step: "PRESENT_SHARES", have: 1, need: 2 } });
    const made = await post(cluster, "rekey", { share64: present[2] });
    expect(made).toMatchObject({ step: "NEW_SHARES", have: 0, need: 3 });
    const fresh = texts(made["shares64"]);
    expect(new Set([...fresh, ...present]).size).toBe(7);
    // One of the set before does not count for a new one, and is told by name.
    expect(await post(cluster, "rekey", { share64: present[0] })).toMatchObject({
      code: "INVALID_SHARE",
      errors: [{ code: "foreign_share" }],
    });
    await post(cluster, "rekey", { share64: fresh[0] });
    await post(cluster, "rekey", { share64: fresh[1] });
    expect(await post(cluster, "rekey", { share64: fresh[3] })).toMatchObject({ step: "DONE" });
    expect(await status(cluster)).not.toHaveProperty("rekey");
    // Whoever lost that answer asks again, and is not told to throw away what unseals the peer now.
    for (const share64 of [fresh[3], fresh[2]])
      expect(await post(cluster, "rekey", { share64 })).toEqual({
        step: "DONE",
        have: 3,
        need: 3,
        shares: 4,
        threshold: 3,
      });
    for (const share64 of [present[0], "no share"])
      expect(await post(cluster, "rekey", { share64 })).toMatchObject(ofAnotherSet);
    await cluster.stop(1);
    await cluster.run(1);
    expect(await post(cluster, "rekey", { share64: fresh[3] })).toMatchObject(ofTheSetInUse);
    expect(await post(cluster, "rekey", { share64: present[0] })).toMatchObject(ofAnotherSet);
    expect((await post(cluster, "unseal", { share64: present[0] }))["errors"]).toEqual([
      expect.objectContaining({ code: "foreign_share", detail: expect.stringContaining("before a rekey") as string }),
    ]);
    for (const share64 of fresh.slice(1)) await post(cluster, "unseal", { share64 });
    await cluster.ready(1);
    expect((await cluster.read(1, String(created.json["ref"]))).text).toBe(created.text);
  });

  it("leaves the present shares as they are whatever ends it before the new ones are confirmed", async () => {
    const cluster = track(await ServerCluster.found(1));
    const [a, b, c] = cluster.member(1).shares;
    const toNewShares = async (): Promise<ReadonlyArray<string>> => {
      await post(cluster, "rekey", { start: true });
      await post(cluster, "rekey", { share64: a });
      return texts((await post(cluster, "rekey", { share64: b }))["shares64"]);
    };
    // Given up; lost with the process; and with the keys at a seal.
    const dropped = await toNewShares();
    expect(await post(cluster, "rekey", { reset: true })).toEqual({ step: "NONE", have: 0, need: 0 });
    expect(await post(cluster, "rekey", { share64: dropped[0] })).toMatchObject(ofAnotherSet);
    await toNewShares();
    await cluster.stop(1);
    await cluster.run(1);
    expect(await post(cluster, "rekey", { start: true })).toMatchObject({ code: "SEALED" });
    await cluster.unseal(1);
    const lost = await toNewShares();
    await post(cluster, "seal", {});
    expect(await post(cluster, "unseal", { share64: lost[0] })).toMatchObject({ code: "INVALID_SHARE" });
    await post(cluster, "unseal", { share64: b });
    expect(await post(cluster, "unseal", { share64: c })).toMatchObject({ state: "UNSEALED" });
    // Wrong shares are found by what they open, and reset the step.
    await post(cluster, "rekey", { start: true });
    const wrong = Buffer.from(a ?? "", "base64");
    wrong[20] = (wrong[20] ?? 0) ^ 1;
    await post(cluster, "rekey", { share64: wrong.toString("base64") });
    expect(await post(cluster, "rekey", { share64: b })).toMatchObject({ errors: [{ code: "wrong_shares" }] });
    expect(await status(cluster)).toMatchObject({ rekey: { step: "PRESENT_SHARES", have: 0 } });
  });

  it("and an init encrypt each share to its holder, and never show one in clear", async () => {
    const cluster = track(await ServerCluster.start(1));
    const identities = await Promise.all([1, 2, 3].map(() => generateIdentity()));
    const recipients = await Promise.all(identities.map((identity) => identityToRecipient(identity)));
    const numbers = { peerId: 1, threshold: 1, total: 1 };
    expect(await post(cluster, "init", { ...numbers, recipients: recipients.slice(1) })).toMatchObject({
      errors: [{ pointer: "/recipients", code: "mismatch" }],
    });
    expect(
      await post(cluster, "init", { ...numbers, recipients: [recipients[0], recipients[0], "age1x"] }),
    ).toMatchObject({
      errors: [
        { pointer: "/recipients/1", code: "duplicate" },
        { pointer: "/recipients/2", code: "invalid_recipient" },
      ],
    });
    const open = (answer: { readonly [name: string]: unknown }) => {
      expect(answer).not.toHaveProperty("shares64");
      const shares = answer["encryptedShares"] as ReadonlyArray<{ readonly recipient: string; readonly share: string }>;
      expect(shares.map(({ recipient }) => recipient)).toEqual(recipients);
      return Promise.all(
        shares.map(({ share }, index) => {
          const decrypter = new Decrypter();
          decrypter.addIdentity(identities[index] ?? "");
          return decrypter.decrypt(armor.decode(share), "text");
        }),
      );
    };
    const first = await open(await post(cluster, "init", { ...numbers, recipients }));
    await post(cluster, "unseal", { share64: first[0] });
    expect(await post(cluster, "unseal", { share64: first[2] })).toMatchObject({ state: "UNSEALED" });
    await post(cluster, "rekey", { start: true, recipients });
    await post(cluster, "rekey", { share64: first[0] });
    const second = await open(await post(cluster, "rekey", { share64: first[1] }));
    await post(cluster, "rekey", { share64: second[0] });
    expect(await post(cluster, "rekey", { share64: second[1] })).toMatchObject({ step: "DONE" });
    for (const share of [...first, ...second]) expect(cluster.logs.join("")).not.toContain(share);
  });
});
