/** One request in the logs of all peers. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
});
afterAll(() => cluster.close());

type Line = Readonly<Record<string, unknown>>;
const linesOf = (event: string): ReadonlyArray<Line> =>
  cluster.logs.map((line): Line => JSON.parse(line)).filter((line) => line["event"] === event);

it("has the same name at every peer, and its X-Request-Id where it came in", async () => {
  const body = registration("alice");
  const answered = await cluster.post(2, "/v1/custody/approvers", body, { "x-request-id": "of-the-caller" });
  expect(answered.status).toBe(201);
  const own = linesOf("request").find(({ requestId }) => requestId === "of-the-caller");
  expect(own).toMatchObject({ method: "POST", route: "/v1/custody/approvers", status: 201, level: "debug" });
  const name = String(own?.["requests"]);
  expect(name).toMatch(/^2\/\S+$/);
  const arrivals = linesOf("message").filter(({ requests }) => String(requests).split(" ").includes(name));
  const said = new Set(arrivals.map(({ kind, from, to }) => `${String(kind)} ${String(from)}-${String(to)}`));
  expect([...said]).toEqual(
    expect.arrayContaining(["Forward 2-1", "Prepare 1-2", "Prepare 1-3", "Commit 1-2", "Commit 1-3", "Outcome 1-2"]),
  );
  const [token] = [cluster.token];
  expect(cluster.logs.join("")).not.toContain(token);
  expect(cluster.logs.join("")).not.toContain(String(body.credential.publicKey64));
});

it("names no other peer's request where a read needs none", async () => {
  await cluster.get(3, "/v2/custody/config", { "x-request-id": "a-read" });
  const own = linesOf("request").find(({ requestId }) => requestId === "a-read");
  expect(own).toMatchObject({ status: 200 });
  expect(own).not.toHaveProperty("requests");
});
