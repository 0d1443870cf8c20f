/** What becomes of a result that standard output does not take, by real processes. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { auditEvents } from "./AuditChains.ts";
import { program } from "./cli/CustodyProcess.ts";
import { fakeService, jsonReply } from "./cli/FakeService.ts";
import { surroundings } from "./cli/Running.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-output-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { ...surroundings(), CUSTODY_TOKEN: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl" };

/** Runs a line of bash, in which `custody` is the command line; its code is that of the first that failed. */
const shell = (line: string, more: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly code: number; readonly stderr: string }>((resolve) => {
    const script = `set -o pipefail; custody() { "${process.execPath}" "${program}" "$@"; }; ${line}`;
    const child = execFile("bash", ["-c", script], { env: { ...env, ...more } }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stderr }),
    );
  });

it.each(["openapi", "metrics --json", "keys --help"])("is a failure of %s on a full disk", async (command) => {
  const { code, stderr } = await shell(`custody ${command} >/dev/full`);
  expect([code, stderr]).toEqual([2, expect.stringContaining("standard output cannot be written (ENOSPC)")]);
});

it("is a failure where the disk took a part of it", async () => {
  const file = join(folder, "openapi.json");
  const { code, stderr } = await shell(`ulimit -f 4; custody openapi >"${file}"`);
  expect([code, stderr]).toEqual([2, expect.stringContaining("standard output cannot be written (EFBIG)")]);
  expect(statSync(file).size).toBe(4096);
});

it("is the loss of a signature that was made, and no wrong usage", async () => {
  const signed = { generation: 1, signature64: "c2ln", imposters: [], operationId: "o" };
  const service = await fakeService(() => jsonReply(200, signed));
  try {
    const line = "echo m | custody sign --key k1 --scheme EdDSA --data-file - >/dev/full";
    const { code, stderr } = await shell(line, { CUSTODY_URL: service.url });
    expect([code, stderr]).toEqual([6, expect.stringContaining("it was signed; the same command signs anew")]);
  } finally {
    await service.close();
  }
}, 60_000);

it("is the loss of unseal shares, which the same command makes anew: nothing has to be removed", async () => {
  const answer = { peerId: 2, threshold: 2, total: 3, shares64: ["c2hhcmUx", "c2hhcmUy"], sharesNeeded: 2 };
  const service = await fakeService(() => jsonReply(200, answer));
  try {
    const line = "custody init --peer-id 2 --threshold 2 --total 3 >/dev/full";
    const { code, stderr } = await shell(line, { CUSTODY_URL: service.url });
    expect([code, stderr]).toEqual([6, expect.stringContaining("repeat the command, which makes new ones")]);
    expect(stderr).not.toMatch(/remove|data[.-]dir|c2hhcmU/);
  } finally {
    await service.close();
  }
}, 60_000);

it("ends a command that goes on once its reader went away", async () => {
  const all = auditEvents(40);
  let last = 0;
  const service = await fakeService(({ path }) => {
    const since = Number(new URL(path, "http://peer").searchParams.get("since"));
    if (Number.isNaN(since) || since === 0) return jsonReply(200, {});
    last = since;
    const events = all.slice(since - 1, since);
    const hash: unknown = Reflect.get(Object(Reflect.get(Object(events[0]), "data")), "hash");
    return jsonReply(200, { peerId: 1, events, next: since + 1, head: { seq: since, hash } });
  });
  try {
    const ended = await shell("custody audit export --follow | head -1", { CUSTODY_URL: service.url });
    expect(ended).toEqual({ code: 0, stderr: "" });
    expect(last).toBeLessThan(40);
    const watched = await shell(`custody status --all --service ${service.url} --watch 1s --json | head -1`);
    expect(watched).toEqual({ code: 0, stderr: "" });
  } finally {
    await service.close();
  }
}, 60_000);
