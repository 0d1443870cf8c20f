/** A peer with more rows than it verifies while somebody waits: unsealing it is answered before it has. */
import { afterAll, beforeAll, expect, it } from "vitest";
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
