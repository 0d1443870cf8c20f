/** The audit of a real peer in a rotated file beside its database. */
import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { runInProcess } from "../cli/InProcess.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster | undefined;
afterEach(async () => {
  await cluster?.close();
});

const patience = { timeout: 20_000, interval: 50 };
const metricsOf = async (peer: ServerCluster): Promise<string> =>
  (await fetch(`${peer.server(1).peerUrl}/metrics`)).text();
const warningsOf = async (peer: ServerCluster): Promise<unknown> => {
  const { json } = await peer.get(1, "/v1/custody/system/status");
  return Reflect.get(Object(json["detail"]), "warnings");
};
const none = async (peer: ServerCluster): Promise<void> => {
  expect(await metricsOf(peer)).toMatch(/^custody_audit_behind_events 0$/m);
  expect(await warningsOf(peer)).toEqual([]);
};

it("has every event of the peer, in order, over a restart, and verifies against the peer", async () => {
  const peer = await ServerCluster.found(1, "audit: {sinks: {file: {path: audit.jsonl}}}");
  cluster = peer;
  const file = join(peer.folder, "peer-1", "audit.jsonl");
  await peer.register(1, registration("alice"));
  await vi.waitFor(() => none(peer), patience);
  const before = readFileSync(file, "utf8");
  await peer.stop(1);
  await peer.run(1);
  // Sealed it reads nothing, and so tells nothing, without a fault.
  expect(readFileSync(file, "utf8")).toBe(before);
  await peer.unseal(1);
  await peer.ready(1);
  await peer.register(1, registration("bob"));
  await vi.waitFor(() => none(peer), patience);
  const text = readFileSync(file, "utf8");
  expect(text.startsWith(before)).toBe(true);
  const env = { CUSTODY_URL: peer.server(1).url, CUSTODY_TOKEN: await peer.mint(["service.audit.read"]) };
  const { code, stdout } = await runInProcess(["audit", "verify", file, "--live", "--json"], env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ peerId: 1, events: text.trimEnd().split("\n").length });
  for (const secret of [peer.token, ...peer.member(1).shares]) expect(text).not.toContain(secret);
});

it("has every event on standard output too, where that is asked for", async () => {
  let text = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((chunk, encodingOrDone, done) => {
    text += String(chunk);
    (typeof encodingOrDone === "function" ? encodingOrDone : done)?.();
    return true;
  });
  try {
    const peer = await ServerCluster.found(1, "audit: {sinks: {stdout: true}}");
    cluster = peer;
    await peer.register(1, registration("alice"));
    await vi.waitFor(() => none(peer), patience);
  } finally {
    spy.mockRestore();
  }
  const events = text.split("\n").flatMap((line) => (line.startsWith('{"specversion"') ? [JSON.parse(line)] : []));
  expect(events.map(({ data }) => data.seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.at(-1)).toMatchObject({ type: "custody.audit.APPROVER_REGISTERED" });
});

it("holds no change up while it cannot be written: the peer warns, and tells it all later", async () => {
  const peer = await ServerCluster.start(1, "audit: {sinks: {file: {path: audit.jsonl}}}");
  cluster = peer;
  const file = join(peer.folder, "peer-1", "audit.jsonl");
  mkdirSync(file);
  await peer.initialize(1);
  await peer.unseal(1);
  await peer.ready(1);
  expect((await peer.register(1, registration("alice"))).status).toBe(201);
  await vi.waitFor(
    async () => expect(await warningsOf(peer)).toEqual([expect.stringMatching(/^audit\.sinks\.file: /)]),
    {
      ...patience,
    },
  );
  const metrics = await metricsOf(peer);
  expect(metrics).toMatch(/^custody_audit_sink_failures_total\{sink="file"\} [1-9]/m);
  expect(metrics).toMatch(/^custody_audit_behind_events [1-9]/m);
  rmdirSync(file);
  await vi.waitFor(() => none(peer), patience);
  expect(readFileSync(file, "utf8")).toContain("custody.audit.APPROVER_REGISTERED");
}, 60_000);
