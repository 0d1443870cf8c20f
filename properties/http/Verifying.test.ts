/** A peer with more rows than it verifies while a caller waits: its unseal is answered before it has verified them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

/** Each registration leaves some six rows, and about a thousand are verified before an unseal is answered. */
const APPROVERS = 300;
const AT_ONCE = 50;

let cluster: ServerCluster;
let ref: string;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  for (let from = 0; from < APPROVERS; from += AT_ONCE) {
    const registered = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => cluster.register(1, registration(`approver-${from + index}`))),
    );
    ref = String(registered[0]?.json["ref"]);
  }
});
afterAll(() => cluster.close());

it("answers the last share with how far it is, refuses reads by that name, and is ready once it is through", async () => {
  await cluster.stop(1);
  await cluster.run(1);
  const { status, json } = await cluster.unseal(1);
  expect({ status, ...json }).toMatchObject({ status: 200, state: "UNSEALED", have: 2, need: 2 });
  const shown = await cluster.get(1, "/v2/custody/config");
  expect(shown.json).toMatchObject({ threshold: 1, total: 1, features: ["core", "keys"] });
  const { rows, of } = Object(json["verifying"]);
  expect(of).toBeGreaterThan(APPROVERS * 4);
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(of);
  await cluster.ready(1);
  expect((await cluster.read(1, ref)).status).toBe(200);
  expect(await cluster.get(1, "/v1/custody/system/status")).not.toMatchObject({
    json: { verifying: expect.anything() },
  });
});

it("records that the rows did not hold, where that is found after its answer, under who unsealed it", async () => {
  await cluster.stop(1);
  const last = "(SELECT max(key) FROM records WHERE name = 'keys')";
  await cluster.tamper(1, `UPDATE records SET key = key || '0' WHERE name = 'keys' AND key = ${last}`);
  await cluster.run(1);
  const logged = cluster.logs.length;
  const { status, json } = await cluster.unseal(1);
  expect({ status, ...json }).toMatchObject({ status: 200, state: "UNSEALED", verifying: expect.anything() });
  const hex = (text: string): string => Buffer.from(text).toString("hex");
  // Nothing is sealed beside such rows: it waits in the journal, behind what was answered.
  await vi.waitFor(
    () => {
      const journal = readFileSync(join(cluster.member(1).dataDir, "operators.log"), "latin1");
      expect(journal.lastIndexOf(hex("INTEGRITY_FAILURE"))).toBeGreaterThan(journal.lastIndexOf(hex("ACCEPTED")));
    },
    { timeout: 20_000 },
  );
  const told = cluster.logs.slice(logged).filter((line) => line.includes('"outcome":"INTEGRITY_FAILURE"'));
  expect(told.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: "operator", call: "UNSEAL", sub: "operator", detail: "unsealed, and what is stored does not hold" },
  ]);
  const { text } = await cluster.get(1, "/v1/custody/system/status");
  expect(text).toContain('"integrityFault":"');
});
