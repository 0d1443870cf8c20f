/** What `custody sign` asks a peer for, and what becomes of a signature that is to go into a file: nobody may lose it. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { against } from "./cli/Against.ts";
import { jsonReply, type Reply } from "./cli/FakeService.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-sign-out-"));
  writeFileSync(join(folder, "m"), "twelve ducats to the bearer");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let there: string;
beforeEach(() => {
  there = mkdtempSync(join(folder, "out-"));
});

const signature = Buffer.alloc(64, 7);
const signature64 = signature.toString("base64");
const signed = (): Reply => jsonReply(200, { generation: 1, signature64, imposters: [], operationId: "o" });
const signTo = (out: string, reply = signed, ...more: ReadonlyArray<string>) =>
  against(reply, ["sign", "--key", "k1", "--scheme", "EdDSA", "--data-file", join(folder, "m"), "--out", out, ...more]);

it("asks for none where the file cannot be written", async () => {
  writeFileSync(join(there, "file"), "");
  for (const out of [join(there, "none", "s"), join(there, "file", "s"), there]) {
    const { code, received, stdout, stderr } = await signTo(out);
    expect([code, received.length, stdout]).toEqual([2, 0, ""]);
    expect(stderr).toContain(`--out: ${out} cannot be written`);
  }
});

it("replaces the file that is there only by a whole one, and leaves nothing beside it", async () => {
  const out = join(there, "s");
  writeFileSync(out, "an earlier one");
  chmodSync(out, 0o640);
  symlinkSync(out, join(there, "link"));
  const refused = await signTo(out, () => {
    expect(readFileSync(out, "utf8")).toBe("an earlier one");
    return jsonReply(409, { status: 409, code: "KEY_NOT_ACTIVE" });
  });
  expect([refused.code, readFileSync(out, "utf8")]).toEqual([1, "an earlier one"]);
  expect(await signTo(join(there, "link"))).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(out)).toEqual(signature);
  expect(statSync(out).mode & 0o777).toBe(0o640);
  expect(readdirSync(there).toSorted()).toEqual(["link", "s"]);
});

it("prints it where the file cannot be written after all, and does not end as if nothing was sent", async () => {
  const gone = join(there, "gone");
  const losing = (): Reply => {
    rmSync(gone, { recursive: true });
    return signed();
  };
  for (const more of [[], ["--json"]]) {
    mkdirSync(gone);
    const { code, stdout, stderr } = await signTo(join(gone, "s"), losing, ...more);
    expect([code, stdout.includes(signature64), existsSync(gone)]).toEqual([6, true, false]);
    expect(stderr).toContain("the signature stands on standard output");
  }
  const full = await signTo("/dev/full");
  expect([full.code, full.stdout]).toEqual([6, `${signature64}\n`]);
  expect(full.stderr).toContain("--out: /dev/full cannot be written (ENOSPC)");
});

it("asks for the public key where the peer lacks its share of the key, and others sign", async () => {
  const missing = jsonReply(503, { status: 503, code: "SHARE_MISSING", hint: "Ask another peer." });
  const at = (answers: Readonly<Record<string, Reply>>) =>
    against(
      ({ path }) => answers[path.split("?")[0]?.split("/").at(-1) ?? ""] ?? missing,
      ["sign", "--key", "k1", "--data-file", join(folder, "m")],
    );
  const key = jsonReply(200, { scheme: "EdDSA", publicKey64: "AAAA" });
  const { code, stdout, received } = await at({ public: key, sign: signed() });
  expect([code, stdout]).toEqual([0, `${signature64}\n`]);
  expect(JSON.parse(received.at(-1)?.body ?? "")).toMatchObject({ command: { artifact: { scheme: "EdDSA" } } });
  const denied = await at({ public: jsonReply(403, { status: 403, code: "ACCESS_DENIED" }) });
  expect([denied.code, denied.received.length]).toEqual([1, 2]);
  expect(denied.stderr).toMatch(/SHARE_MISSING[^]*--scheme/);
});
