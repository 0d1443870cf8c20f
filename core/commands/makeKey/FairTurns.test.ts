import { expect, it } from "vitest";
import { create, keeper, keyed } from "../../../properties/cluster/Keyed.ts";

it("lets one caller's many keys not hold up another's one", () => {
  const cluster = keyed();
  const order: Array<string> = [];
  cluster.onReply = (requestId) => void order.push(requestId);
  for (let at = 0; at < 12; at += 1) create(cluster, 1, `many ${at}`, { keyId: `many-${at}` });
  cluster.judge = () =>
    keeper._tag === "Verified" ? { ...keeper, claims: { ...keeper.claims, sub: "another" } } : keeper;
  create(cluster, 1, "one", { keyId: "one" });
  cluster.pass(3_000);
  // Four are made at once, so those that were begun before may be first.
  expect(order.indexOf("one")).toBeGreaterThanOrEqual(0);
  expect(order.indexOf("one")).toBeLessThan(8);
});
