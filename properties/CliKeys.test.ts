/** `custody keys`, `sign` and `verify` against real peers; `openssl` judges what was signed. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInProcess } from "./cli/InProcess.ts";
import { ServerCluster } from "./http/ServerCluster.ts";

const permissions = [
  "service.system.*",
  "service.dkg.*",
  "service.compliance.inventory",
  "service.recover",
  "service.key.*.*",
];

let shared: ServerCluster;
let alone: ServerCluster;
beforeAll(async () => {
  [shared, alone] = await Promise.all([ServerCluster.found(3), ServerCluster.found(1)]);
  for (const each of [shared, alone]) each.token = await each.mint(permissions);
  writeFileSync(join(shared.folder, "m"), "twelve ducats to the bearer");
}, 60_000);
afterAll(() => Promise.all([shared.close(), alone.close()]));

const run = (of: ServerCluster, args: ReadonlyArray<string>, through = 1, token = of.token) =>
  runInProcess(args, { CUSTODY_TOKEN: token, CUSTODY_URL: of.server(through).url });

/** In the folder of the message. */
const file = (name: string): string => join(shared.folder, name);

const done = async (of: ServerCluster, args: ReadonlyArray<string>, through = 1): Promise<string> => {
  const { code, stdout, stderr } = await run(of, args, through);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
};

/** Not this project's: the one on the machine. */
const verifier = "openssl";

const openssl = (...args: ReadonlyArray<string>): string =>
  execFileSync(verifier, args, { encoding: "utf8", cwd: shared.folder });

const create = (of: ServerCluster, id: string, algorithm: string, ...more: ReadonlyArray<string>) =>
  done(of, ["keys", "create", "--id", id, "--algorithm", algorithm, "--authority", "arbitrary", ...more]);

describe("a shared key", () => {
  it("is made, made already, shown and listed", async () => {
    expect(await create(shared, "k1", "ED25519", "--asset-owner", "customer-42")).toMatch(
      /^Created: k1, generation 1\nkeyId: k1\n/,
    );
    expect(await create(shared, "k1", "ED25519", "--asset-owner", "customer-42")).toMatch(/^Created already: k1/);
    const shown = await done(shared, ["keys", "show", "k1", "--json"], 3);
    expect(JSON.parse(shown)).toMatchObject({ keyId: "k1", health: "OK", generation: { madeBy: "CREATE" } });
    expect(await done(shared, ["keys", "list"], 2)).toMatch(
      /^KEY +STATUS +ALGORITHM +SCHEME +GENERATION +SIGN +HEALTH +UPDATED\nk1 +ACTIVE +ED25519 +EdDSA +1 +2\/3 +OK +20/,
    );
    const none = await run(shared, ["keys", "list", "--status", "DESTROYED"]);
    expect([none.code, none.stdout, none.stderr]).toEqual([0, "", "there is no such key\n"]);
  });

  it("signs a file, which openssl verifies", async () => {
    expect(await done(shared, ["keys", "public", "k1", "--out", file("k1.pem")])).toBe(`Written: ${file("k1.pem")}\n`);
    const signed = await done(shared, ["sign", "--key", "k1", "--data-file", file("m"), "--out", file("s")], 2);
    expect(signed).toBe(`Signed with k1, generation 1: ${file("s")}\n`);
    const args = ["-verify", "-pubin", "-inkey", "k1.pem", "-rawin", "-in", "m", "-sigfile", "s"];
    expect(openssl("pkeyutl", ...args)).toContain("Signature Verified Successfully");
  });

  it("verifies a signature, and ends with 1 where it does not hold", async () => {
    const args = ["verify", "--key", "k1", "--signature", file("s"), "--data-file"];
    expect(await done(shared, [...args, file("m")], 3)).toBe("Valid\n");
    const { code, stderr } = await run(shared, [...args, file("k1.pem")]);
    expect([code, stderr.split("\n")[0]]).toEqual([1, "custody: the signature is not one of this key and this file"]);
    const json = await run(shared, [...args, file("k1.pem"), "--json"]);
    expect([json.code, json.stdout]).toEqual([1, '{"valid":false}\n']);
  });

  it("prints a signature without --out, and the answer with --json", async () => {
    const args = ["sign", "--key", "k1", "--data-file", file("m"), "--scheme", "EdDSA", "--hash", "SHA512"];
    expect(Buffer.from(await done(shared, args), "base64")).toHaveLength(64);
    expect(JSON.parse(await done(shared, [...args, "--json"]))).toMatchObject({ type: "arbitrary", generation: 1 });
  });

  it("is told in every form that it has", async () => {
    const hex = (await done(shared, ["keys", "public", "k1", "--format", "hex"])).trim();
    expect(hex).toMatch(/^[0-9a-f]{64}$/);
    await done(shared, ["keys", "public", "k1", "--format", "raw", "--out", file("raw")]);
    expect(readFileSync(file("raw")).toString("hex")).toBe(hex);
    await done(shared, ["keys", "public", "k1", "--format", "der", "--out", file("der")]);
    expect(readFileSync(file("der")).toString("hex")).toBe(`302a300506032b6570032100${hex}`);
    await create(shared, "b1", "SECP256K1");
    expect((await run(shared, ["keys", "public", "b1"])).stderr).toContain("have no PEM or DER form");
  });

  it("is refreshed, rotated and destroyed by commands that can be repeated", async () => {
    const refresh = ["keys", "refresh", "k1", "--base", "1"];
    expect(await done(shared, refresh)).toMatch(/^Refreshed: k1, generation 2\n/);
    expect(await done(shared, refresh, 3)).toMatch(/^Refreshed: k1, generation 2\n/);
    const rotate = ["keys", "rotate", "k1", "--base", "2"];
    expect(await done(shared, rotate)).toMatch(/^Rotated: k1, generation 3\n/);
    expect(await done(shared, rotate, 2)).toMatch(/^Rotated: k1, generation 3\n/);
    const moved = await run(shared, ["keys", "rotate", "k1", "--base", "1"]);
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining("GENERATION_MOVED")]);
    const destroy = ["keys", "destroy", "k1", "--base", "3", "--generation", "2"];
    expect(await done(shared, destroy)).toMatch(/^Destroyed: k1, generation 2\n/);
    expect(await done(shared, destroy, 2)).toMatch(/^Destroyed: k1, generation 2\n/);
    const old = ["--generation", "1", "--signature", file("s"), "--data-file", file("m")];
    expect(await done(shared, ["verify", "--key", "k1", ...old])).toBe("Valid\n");
    expect(await done(shared, ["keys", "destroy", "b1", "--base", "1", "--final"])).toMatch(/^Destroyed: b1/);
  });

  it("is not repaired by fewer than sign", async () => {
    const { code, stderr } = await run(shared, ["keys", "repair", "k1", "--helper", "2"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("It takes exactly 2 helpers.")]);
  });

  it("needs no repair where nothing is missing", async () => {
    expect(await done(shared, ["keys", "repair", "k1", "--helper", "2", "--helper", "3"])).toMatch(
      /^Repaired: k1, generations 3; refresh the key now\n/,
    );
  });
});

describe("wrong usage sends nothing", () => {
  it.each([
    ["an id that is none", ["keys", "show", "K1"], "this is not a key id"],
    ["two ways to destroy", ["keys", "destroy", "k1", "--base", "1", "--generation", "1", "--final"], "--final"],
    ["no way to destroy", ["keys", "destroy", "k1", "--base", "1"], "--generation N"],
    ["a repair without helpers", ["keys", "repair", "k1"], "--helper"],
    ["a helper that is no peer", ["keys", "repair", "k1", "--helper", "two"], "--helper is not the number of a peer"],
    ["a page of none", ["keys", "list", "--limit", "0"], "--limit"],
    ["a file that is not there", ["sign", "--key", "k1", "--data-file", "/none"], "--data-file: /none does not exist"],
    [
      "two readers of one input",
      ["sign", "--key", "k1", "--data-file", "-", "--token-file", "-"],
      "--data-file and --token-file both ask for standard input",
    ],
  ])("%s", async (_what, args, words) => {
    const { code, stderr } = await run(shared, args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it("DER of what is not ECDSA", async () => {
    const { code, stderr } = await run(shared, ["sign", "--key", "k1", "--data-file", file("m"), "--format", "der"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--format der is for ECDSA")]);
  });
});

describe("a key of a peer that is alone", () => {
  it.each([
    ["p256", "P256"],
    ["secp", "SECP256K1"],
  ])("signs with ECDSA what openssl dgst verifies: %s", async (id, algorithm) => {
    await create(alone, id, algorithm, "--scheme", "ECDSA");
    await done(alone, ["keys", "public", id, "--out", file(`${id}.pem`)]);
    const signing = ["--key", id, "--data-file", file("m"), "--hash", "SHA256", "--format", "der"];
    for (let round = 0; round < 3; round += 1) {
      await done(alone, ["sign", ...signing, "--out", file(id)]);
      expect(openssl("dgst", "-sha256", "-verify", `${id}.pem`, "-signature", id, "m")).toBe("Verified OK\n");
      expect(await done(alone, ["verify", ...signing, "--signature", file(id)])).toBe("Valid\n");
    }
    const whole = await run(alone, ["sign", "--key", id, "--data-file", file("m")]);
    expect([whole.code, whole.stderr]).toEqual([1, expect.stringContaining("INVALID_COMMAND")]);
  });

  it.each(["MLDSA44", "MLDSA65", "MLDSA87"])("signs with %s", async (algorithm) => {
    const id = algorithm.toLowerCase();
    await create(alone, id, algorithm);
    await done(alone, ["sign", "--key", id, "--data-file", file("m"), "--out", file(id)]);
    expect(await done(alone, ["verify", "--key", id, "--data-file", file("m"), "--signature", file(id)])).toBe(
      "Valid\n",
    );
    await done(alone, ["keys", "public", id, "--out", file(`${id}.pem`)]);
    // Where openssl knows the algorithm (from 3.5), it agrees.
    if (spawnSync(verifier, ["pkey", "-pubin", "-in", file(`${id}.pem`), "-noout"]).status !== 0) return;
    const args = ["-verify", "-pubin", "-inkey", `${id}.pem`, "-rawin", "-in", "m", "-sigfile", id];
    expect(openssl("pkeyutl", ...args)).toContain("Signature Verified Successfully");
  });

  it("has no threshold in a cluster of three", async () => {
    const args = ["keys", "create", "--id", "p1", "--algorithm", "P256", "--authority", "arbitrary"];
    const { code, stderr } = await run(shared, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining("SCHEME_NOT_THRESHOLD")]);
  });
});
