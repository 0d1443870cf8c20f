/** What a caller of the command line sees: output, exit codes, and what was sent. */
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { against, token } from "./cli/Against.ts";
import { runCustody } from "./cli/CustodyProcess.ts";
import { jsonReply, type Reply } from "./cli/FakeService.ts";
import { runInProcess } from "./cli/InProcess.ts";

const share = `AR${"b".repeat(65)}=`;
const ref = `alice@sha256:${"a".repeat(64)}`;
const keys = generateKeyPairSync("ed25519");
const der = keys.publicKey.export({ format: "der", type: "spki" });
const secretPem = keys.privateKey.export({ format: "pem", type: "pkcs8" }).toString();

let folder: string;
const file = (name: string): string => join(folder, name);
const register = (key: string, ...more: ReadonlyArray<string>) =>
  ["approvers", "register", "--id", "alice", "--key", key].concat(more);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-cli-"));
  writeFileSync(file("key.pem"), keys.publicKey.export({ format: "pem", type: "spki" }));
  writeFileSync(file("secret.pem"), secretPem);
  writeFileSync(file("token"), `${token}\n`, { mode: 0o600 });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("registering", () => {
  it("sends the key of a PEM file with its algorithm, and prints the record", async () => {
    const record = { id: "alice", ref, metadata: { team: "a=b" }, note: "\u001b[2Jgone" };
    const args = register(file("key.pem"), "--metadata", "team=a=b", "--metadata", "site=x");
    const { code, stdout, stderr, received } = await against(() => jsonReply(201, record), args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: "POST", path: "/v1/custody/approvers", token });
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({
      id: "alice",
      credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64: der.toString("base64") },
      metadata: { team: "a=b", site: "x" },
    });
    expect(stdout.split("\n")[0]).toBe(`Registered: ${ref}`);
    expect(stdout).not.toContain("\u001b");
  });

  it("takes the key from standard input and prints JSON on one line", async () => {
    const args = register("-", "--token-file", file("token"), "--json");
    const input = der.toString("base64");
    const { code, stdout, received } = await against(() => jsonReply(200, { ref }), args, {
      input,
      env: { CUSTODY_TOKEN: "other" },
    });
    expect({ code, stdout, token: received[0]?.token }).toEqual({ code: 0, stdout: `{"ref":"${ref}"}\n`, token });
  });

  it("ends with 1 and the service's own words when it refuses", async () => {
    const problem = {
      status: 409,
      code: "KEY_ALREADY_REGISTERED",
      detail: "Another id owns this key.",
      hint: "Use that id.",
      requestId: "r-1",
      errors: [{ pointer: "/credential/publicKey64", code: "taken", detail: "It is taken." }],
    };
    const { code, stdout, stderr } = await against(() => jsonReply(409, problem), register(file("key.pem")));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("custody: KEY_ALREADY_REGISTERED (409): Another id owns this key.");
    expect(stderr).toContain("at /credential/publicKey64: taken: It is taken.");
    expect(stderr).toContain("hint: Use that id.");
  });

  it("ends with 4 and says to repeat when the service does not know the outcome", async () => {
    const problem = {
      status: 503,
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      retryable: true,
      outcomeUnknown: true,
      ref,
    };
    const args = register(file("key.pem"), "--json");
    const { code, stdout, stderr } = await against(() => jsonReply(503, problem), args);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { kind: "unknown", hint: expect.stringContaining("repeat the same command"), problem },
    });
  });

  it("ends with 1 when a member is away and nothing was left open", async () => {
    const problem = {
      status: 503,
      code: "APPROVER_REPLICATION_UNAVAILABLE",
      retryable: true,
      members: [{ peerId: 2, reason: "sealed" }],
    };
    const { code, stderr } = await against(() => jsonReply(503, problem), register(file("key.pem")));
    expect(code).toBe(1);
    expect(stderr).toContain("peer 2: sealed");
  });

  it.each([
    ["the connection breaks after the request", (): Reply => "cut", []],
    ["no answer comes in time", (): Reply => "hang", ["--timeout", "300ms"]],
    ["a gateway answers for the service", (): Reply => ({ status: 502, type: "text/html", body: "<p>" }), []],
    ["the answer is not JSON", (): Reply => ({ status: 201, type: "text/html", body: "<p>" }), []],
  ])("ends with 4 when %s", async (_name, reply, more) => {
    const { code, stderr, received } = await against(reply, register(file("key.pem"), ...more));
    expect({ code, sent: received.length }).toEqual({ code: 4, sent: 1 });
    expect(stderr).toContain("repeat the same command");
  });

  it.each([
    ["a signature", () => ["sign", "--key", "k1", "--scheme", "EdDSA", "--data-file", file("key.pem")]],
    ["an invitation", () => ["approvers", "invite", "--id", "alice"]],
    ["a repair", () => ["keys", "repair", "k1", "--helper", "1", "--helper", "3"]],
  ])("does not say that %s whose outcome is open is found by the same command", async (_what, args) => {
    const problem = { status: 503, code: "KEY_REPLICATION_UNAVAILABLE", outcomeUnknown: true };
    for (const reply of [jsonReply(503, problem), "cut"] as const) {
      const { code, stderr } = await against(() => reply, args());
      expect([code, stderr.includes("the same command does it once more"), stderr.includes("converges")]).toEqual([
        4,
        true,
        false,
      ]);
    }
  });
});

describe("where repeating an operator's call is no way to find its outcome", () => {
  it.each([
    ["a restore", ["restore"], "incarnation and recovering in custody status"],
    ["a new integrity key", ["rotate-integrity"], "integrityKeyVersion in custody status"],
    ["the start of a rekey", ["rekey", "--start"], "custody status: under rekey"],
    ["a share for a rekey", ["rekey"], "throw no share away"],
    [
      "an initialization",
      ["init", "--peer-id", "1", "--threshold", "1", "--total", "1"],
      "once it is SEALED, or after a minute",
    ],
  ])("the hint says what to look at first: %s", async (_what, args, hint) => {
    const problem = { status: 503, code: "OUTCOME_UNKNOWN", outcomeUnknown: true };
    for (const reply of [jsonReply(503, problem), "cut"] as const) {
      const { code, stderr } = await against(() => reply, args, hint.includes("share") ? { input: "c2E=\n" } : {});
      expect([code, stderr.includes(hint), stderr.includes("converges")]).toEqual([4, true, false]);
    }
  });
});

describe("inviting", () => {
  const secret = "c".repeat(42).concat("A");
  const expiresAt = Date.UTC(2030, 0, 2, 3, 4, 5);
  const publicKey = (rpId: string) => ({ challenge: "x", rp: { name: "Ex\u00e4mple", id: rpId }, more: [1] });
  const offered = (rpId = "localhost") => ({
    registrationId: "r".repeat(42).concat("E"),
    invitation: secret,
    expiresAt,
    publicKey: publicKey(rpId),
  });
  const invite = (...more: ReadonlyArray<string>) => ["approvers", "invite", "--id", "alice", ...more];
  const heldBy = (link: string): unknown => JSON.parse(Buffer.from(link.split("#")[1] ?? "", "base64url").toString());

  it("prints the link on standard output alone, where it leads, until when, and that it is a secret", async () => {
    const args = invite("--metadata", "team=a=b");
    const { code, stdout, stderr, received, url } = await against(() => jsonReply(200, offered()), args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(received[0]).toMatchObject({
      method: "POST",
      path: "/v1/custody/approvers/webauthn/registration/options",
      token,
      body: '{"id":"alice","metadata":{"team":"a=b"}}',
    });
    const link = stdout.split("\n").find((line) => line.startsWith("http")) ?? "";
    expect(link.split("#")[0]).toBe(`http://localhost:${new URL(url).port}/enroll`);
    expect(heldBy(link)).toEqual({ invitation: secret, expiresAt, publicKey: publicKey("localhost") });
    expect(stdout).toContain("until 2030-01-02T03:04:05.000Z");
    expect(stdout).toContain("The link is a secret");
  });

  it("leads to the origin it is told, and prints JSON on one line", async () => {
    const args = invite("--origin", "https://a.example.com:8443", "--json");
    const { code, stdout, received } = await against(() => jsonReply(200, offered("example.com")), args);
    const printed = JSON.parse(stdout);
    expect({ code, sent: received[0]?.body }).toEqual({ code: 0, sent: '{"id":"alice"}' });
    expect(printed).toMatchObject({ id: "alice", expiresAt, registrationId: offered().registrationId });
    expect(printed.link).toMatch(/^https:\/\/a\.example\.com:8443\/enroll#/);
  });

  it.each([
    ["the peer's address is not the relying party's", [], /give one of webauthn\.origins as --origin/],
    ["the origin is not", ["--origin", "https://example.org"], /--origin is not under the relying party example\.com/],
  ])("makes no link when %s", async (_name, more, message) => {
    const { code, stdout, stderr } = await against(() => jsonReply(200, offered("example.com")), invite(...more));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(secret);
  });

  it("ends with 1 where enrollment is off, and with 4 when what answers is no invitation", async () => {
    const off = { status: 404, code: "WEBAUTHN_DISABLED", detail: "Enrollment is off." };
    const refused = await against(() => jsonReply(404, off), invite());
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("WEBAUTHN_DISABLED (404): Enrollment is off.");
    const other = await against(() => jsonReply(200, { ...offered(), invitation: "short" }), invite());
    expect({ code: other.code, stdout: other.stdout }).toEqual({ code: 4, stdout: "" });
  });
});

describe("reading", () => {
  it("ends with 3 when nothing listens, and 3 when what answers is something else", async () => {
    const closed = await against(() => "cut", ["status"]);
    expect(closed.code).toBe(3);
    const away = await runInProcess(["status", "--url", closed.url], {});
    expect(away.code).toBe(3);
    expect(away.stderr).toContain("nothing listens there");
    const other = await against(() => ({ status: 200, type: "text/html", body: "<p>" }), ["status"]);
    expect(other.code).toBe(3);
  });

  it("prints a status as text and asks for a record by its encoded ref", async () => {
    const status = await against(() => jsonReply(200, { state: "UNSEALED", detail: { epoch: 1 } }), ["status"]);
    expect(status).toMatchObject({ code: 0, stdout: "state: UNSEALED\ndetail:\n  epoch: 1\n" });
    const record = await against(() => jsonReply(200, { ref }), ["approvers", "get", ref, "--json"]);
    expect(record).toMatchObject({ code: 0, stdout: `{"ref":"${ref}"}\n` });
    expect(record.received[0]?.path).toBe(`/v1/custody/approvers/${encodeURIComponent(ref)}`);
  });
});

describe("wrong usage ends with 2 and sends nothing", () => {
  const never = (): Reply => jsonReply(500, {});

  it.each([
    ["an unseal share as argument", () => ["unseal", share], share],
    ["a mistyped share as argument", () => ["unseal", "--json", "Mistyped"], "Mistyped"],
    ["a mistyped share for a rekey", () => ["rekey", "--start", "Mistyped"], "Mistyped"],
    ["a token as argument", () => ["status", "--token", token], token],
    ["a token as argument of another option", () => register(file("key.pem"), `--metadata=t=${token}`), token],
    ["a private key file", () => register(file("secret.pem")), secretPem.split("\n")[1] ?? ""],
    ["a URL with a password", () => ["status", "--url", "http://u:hunter2@127.0.0.1"], "hunter2"],
  ])("%s, which is not echoed", async (_name, args, secret) => {
    const { code, stdout, stderr, received } = await against(never, args());
    expect({ code, stdout, sent: received.length }).toEqual({ code: 2, stdout: "", sent: 0 });
    expect(stderr).not.toContain(secret);
  });

  it.each([
    ["an unknown option", () => ["status", "--bogus"], /: --bogus is no option of this command/],
    ["an unknown option with a value", () => ["status", "--bogus", "1"], /--bogus is no option of this command\n/],
    ["an option given twice", () => ["keys", "list", "--limit", "1", "--limit=2"], /--limit is given more than once/],
    [
      "an option without its value",
      () => ["keys", "list", "--limit"],
      /--limit .*has no value\n +custody keys list --h/,
    ],
    ["a number that is none", () => ["keys", "list", "--limit", "x"], /custody: --limit: 'x' is not an integer/],
    [
      "a word too many",
      () => ["approvers", "metadata", "nope"],
      /approvers metadata nope is no command\n.* approvers --h/,
    ],
    ["a wizard without a terminal", () => ["status", "--wizard"], /--wizard asks at a terminal/],
    ["missing options", () => ["keys", "create"], /^custody: Expected .*'--id'\nExpected .*'--algorithm'\n/],
    ["a missing option", () => ["init", "--peer-id", "1"], /threshold/],
    ["a duration without unit", () => ["status", "--timeout", "5"], /--timeout must be a duration/],
    ["no service named", () => ["status", "--url", ""], /--url is not a URL/],
    ["clear text over a network", () => ["status", "--url", "http://192.0.2.1"], /use https/],
    ["a shortened ref", () => ["approvers", "get", "alice@sha256:00"], /not a complete ref/],
    ["an algorithm the key is not of", () => register(file("key.pem"), "--algorithm", "P256"), /is of ED25519/],
    [
      "an origin with a path",
      () => ["approvers", "invite", "--id", "a", "--origin", "https://a.example/x"],
      /--origin must be/,
    ],
    [
      "a metadata key given twice",
      () => register(file("key.pem"), "--metadata=a=1", "--metadata=a=2"),
      /repeats a key/,
    ],
    [
      "a folder that is no development cluster",
      () => ["token", "--data", folder, "--sub", "x", "--permission", "a.b"],
      /not a development cluster/,
    ],
    ["a folder with other files", () => ["dev", "--data", folder], /holds other files/],
    ["a folder that nobody can make", () => ["dev", "--data", "/proc/custody/dev"], /cannot be made a private folder/],
  ])("%s", async (_name, args, message) => {
    const { code, stderr, received } = await against(never, args());
    expect({ code, sent: received.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toMatch(message);
  });

  it.each([
    ["an unknown option", ["status", "--json", "--bogus"], "--bogus"],
    ["a missing argument", ["approvers", "get", "--json"], "<ref>"],
    ["a number that is none", ["init", "--peer-id", "x", "--threshold", "1", "--total", "1", "--json"], "integer"],
    ["an unknown subcommand", ["approvers", "delete", "--json"], "it has get, invite"],
  ])("%s, in one line of JSON where --json is given", async (_name, args, word) => {
    const { code, stdout, stderr, received } = await against(never, args);
    expect({ code, stdout, sent: received.length }).toEqual({ code: 2, stdout: "", sent: 0 });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "usage", message: expect.stringContaining(word) } });
  });

  it("a token file that everybody may read", async () => {
    writeFileSync(file("open-token"), token);
    chmodSync(file("open-token"), 0o644);
    const { code, stderr, received } = await against(never, ["status", "--token-file", file("open-token")]);
    expect({ code, sent: received.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toContain("chmod 600");
  });
});

describe("help", () => {
  it("names every command, each in a line with what it does", async () => {
    const { code, stdout } = await runCustody(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}- sim run +Run the peers[^\n]*\n {2}- sim replay/m);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(400);
  });
});
