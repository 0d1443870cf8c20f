/** A peer with many rows votes before it has verified all of them: these are verified when they are read, or behind. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

/** Each registration leaves some six rows, in ranges of two thousand at most. */
const APPROVERS = 1_500;
const AT_ONCE = 50;

let cluster: ServerCluster;
let refs: ReadonlyArray<string>;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  const made: Array<string> = [];
  for (let from = 0; from < APPROVERS; from += AT_ONCE) {
    const registered = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => cluster.register(1, registration(`approver-${from + index}`))),
    );
    made.push(...registered.map(({ json }) => String(json["ref"])));
  }
  refs = made.toSorted();
});
afterAll(() => cluster.close());

const said = (from: number, event: string): boolean =>
  cluster.logs.slice(from).some((line) => line.includes(`"event":"${event}"`));

/** The head, and what the process rests on: a peer in which that does not hold is not ready. */
const proven = (): Promise<void> =>
  vi.waitFor(
    async () => {
      const { json } = await cluster.get(1, "/v1/custody/system/status");
      expect(json["verifying"]).toBeUndefined();
    },
    { timeout: 20_000 },
  );

it("answers the last share as unsealed, takes changes, shows records, and says when it has verified all", async () => {
  await cluster.stop(1);
  await cluster.run(1);
  const logged = cluster.logs.length;
  const { status, json } = await cluster.unseal(1);
  expect({ status, ...json }).toMatchObject({ status: 200, state: "UNSEALED" });
  const shown = await cluster.get(1, "/v2/custody/config");
  expect(shown.json).toMatchObject({ threshold: 1, total: 1, features: ["core", "keys"] });
  await cluster.ready(1);
  expect(said(logged, "verified")).toBe(false);
  expect((await cluster.read(1, refs[0] ?? "")).status).toBe(200);
  expect((await cluster.register(1, registration("after-the-unseal"))).status).toBe(201);
  await vi.waitFor(() => expect(said(logged, "verified")).toBe(true), { timeout: 20_000 });
  expect((await cluster.read(1, refs.at(-1) ?? "")).status).toBe(200);
});

it("finds a record that went while it was down when that is asked for, and signs nothing from then on", async () => {
  await cluster.stop(1);
  const ref = refs[APPROVERS / 2] ?? "";
  await cluster.tamper(1, "DELETE FROM records WHERE name = 'approvers' AND key = ?", [ref]);
  await cluster.run(1);
  expect((await cluster.unseal(1)).json).toMatchObject({ state: "UNSEALED" });
  await proven();
  expect(await cluster.read(1, ref)).toMatchObject({ status: 503, json: { code: "INTEGRITY_FAILURE" } });
  await cluster.unready(1);
  const { text } = await cluster.get(1, "/v1/custody/system/status");
  expect(text).toContain('"integrityFault":"');
});

it("finds a row that went while it was down and that nobody asks for, and says so in its log", async () => {
  await cluster.stop(1);
  await cluster.tamper(
    1,
    "DELETE FROM records WHERE name = 'terms' AND key = (SELECT max(key) FROM records WHERE name = 'terms')",
  );
  await cluster.run(1);
  const logged = cluster.logs.length;
  expect((await cluster.unseal(1)).json).toMatchObject({ state: "UNSEALED" });
  await vi.waitFor(() => expect(said(logged, "integrity lost")).toBe(true), { timeout: 20_000 });
  await cluster.unready(1);
  expect(said(logged, "verified")).toBe(false);
  const { text } = await cluster.get(1, "/v1/custody/system/status");
  expect(text).toContain('"integrityFault":"');
});
