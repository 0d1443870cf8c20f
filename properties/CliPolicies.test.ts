/** `custody policies check` against a real peer: what it prints, and how it ends. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCustody } from "./cli/CustodyProcess.ts";
import { fakeService, jsonReply, type Reply } from "./cli/FakeService.ts";
import { runInProcess } from "./cli/InProcess.ts";
import { freePort } from "./drill/FreePorts.ts";
import { registration, ServerCluster } from "./http/ServerCluster.ts";

let cluster: ServerCluster;
let folder: string;
let ref: string;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  ref = String((await cluster.register(1, registration("alice"))).json["ref"]);
  folder = mkdtempSync(join(tmpdir(), "custody-policies-"));
  env = { CUSTODY_URL: cluster.server(1).url, CUSTODY_TOKEN: await cluster.mint(["service.approvers.read"]) };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cluster.close();
});

const policy = (...refs: ReadonlyArray<string>): string =>
  JSON.stringify({ fourEye: { mode: "STRICT", m: 1, n: refs.length, keys: refs.map((each) => ({ ref: each })) } });
const file = (content: string): string => {
  const path = join(folder, "policy.json");
  writeFileSync(path, content);
  return path;
};
const check = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
  runInProcess(["policies", "check", ...args], { ...env, ...more });

describe("checking a policy", () => {
  it("ends with 0 where it resolves, and shows its digest and what each pin comes to", async () => {
    const { code, stdout, stderr } = await check([file(policy(ref))]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [digest, heading, entry, ...rest] = stdout.split("\n");
    expect(digest).toMatch(/^Resolves: sha256:[0-9a-f]{64}$/);
    expect(heading).toMatch(/^ENTRY +APPROVER +COMES TO$/);
    expect(entry).toBe(`/fourEye/keys/0  ${ref}  SIGNATURE ED25519`);
    expect(rest).toEqual([""]);
  });

  it("ends with 1 where it does not, and says which entries and why", async () => {
    const missing = `bob@sha256:${"0".repeat(64)}`;
    const { code, stdout, stderr } = await check([file(policy(ref, missing, ref))]);
    expect(code).toBe(1);
    expect(stdout).not.toContain("Resolves");
    expect(stdout).toContain(`/fourEye/keys/1  ${missing}  `);
    expect(stdout).toMatch(/keys\/1 .* approver_not_found\n.*keys\/2 .* duplicate_key, see \/fourEye\/keys\/0\n$/);
    expect(stderr).toMatch(/^custody: the policy does not resolve: 2 of 3 entries do not\n/);
  });

  it("prints the answer of the service on one line with --json, and its failure on another", async () => {
    const good = await check([file(policy(ref)), "--json"]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(good.stdout)).toMatchObject({ resolved: true, entries: [{ ref, accepts: "SIGNATURE" }] });
    const bad = await check([file(policy(ref, ref)), "--json"]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ resolved: false });
    expect(JSON.parse(bad.stderr)).toMatchObject({ error: { kind: "refused" } });
  });

  it("takes the policy from standard input, byte for byte", async () => {
    const input = (text: string) => runCustody(["policies", "check", "-"], { env, input: text });
    expect(await input(policy(ref))).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Resolves: /) });
    const twice = await input('{"fourEye":{"m":1,"m":1}}');
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining("at /fourEye/m: duplicate_key") });
  });

  it("ends with 1 where the service refuses it, and names every fault", async () => {
    const { code, stderr } = await check([file(policy("alice"))]);
    expect(code).toBe(1);
    expect(stderr).toContain("INVALID_REQUEST_BODY (400)");
    expect(stderr).toContain("at /fourEye/keys/0/ref: invalid_value");
  });

  it.each<[string, () => ReadonlyArray<string>]>([
    ["a file that is not there", () => [join(folder, "missing.json")]],
    ["a folder", () => [folder]],
    ["a file that is too long", () => [file(" ".repeat(2 * 1024 * 1024 + 1))]],
    ["no file", () => []],
    ["standard input for two things", () => ["-", "--token-file", "-"]],
  ])("ends with 2 for %s, and sends nothing", async (_name, args) => {
    const service = await fakeService(() => jsonReply(200, {}));
    const { code } = await check(args(), { CUSTODY_URL: service.url });
    await service.close();
    expect([code, service.received]).toEqual([2, []]);
  });

  it.each<[string, Reply]>([
    ["a connection that breaks", "cut"],
    ["an answer in another form", jsonReply(200, { resolved: true })],
    ["a yes without a digest", jsonReply(200, { resolved: true, entries: [] })],
    [
      "a yes with an entry that did not resolve",
      jsonReply(200, { resolved: true, policyDigest: "sha256:0", entries: [{ pointer: "/x", resolved: false }] }),
    ],
  ])("ends with 3 after %s: nothing was changed", async (_name, reply) => {
    const service = await fakeService(() => reply);
    const { code } = await check([file(policy(ref))], { CUSTODY_URL: service.url });
    await service.close();
    expect(code).toBe(3);
  });

  it("ends with 3 where nothing listens", async () => {
    expect(await check([file(policy(ref))], { CUSTODY_URL: `http://127.0.0.1:${await freePort()}` })).toMatchObject({
      code: 3,
    });
  });
});
