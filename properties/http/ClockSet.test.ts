import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { allPermissions, type Answered, registration, ServerCluster } from "./ServerCluster.ts";

const HOUR = 3_600_000;
const realNow = Date.now;
let setBy = 0;
let cluster: ServerCluster;

beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + setBy);
}, 30_000);

afterAll(async () => {
  vi.restoreAllMocks();
  await cluster.close();
});

/** Runs calls while the clock of the machine is off by so much. */
const whileOff = async <A>(byMillis: number, run: () => Promise<A>): Promise<A> => {
  setBy = byMillis;
  try {
    return await run();
  } finally {
    setBy = 0;
  }
};

const refusal = ({ status, json, headers }: Answered) => ({
  status,
  code: json["code"],
  isCertain: json["outcomeUnknown"] === undefined,
  retryable: json["retryable"],
  retryAfter: headers.has("retry-after"),
});

const certain503 = (code: string) => ({ status: 503, code, isCertain: true, retryable: true, retryAfter: true });

describe("while the clock of a peer is an hour ahead of what it was a moment ago", () => {
  it("callers whose tokens it makes expire are told that it is the clock", async () => {
    const token = await cluster.mint(allPermissions, HOUR / 2);
    const [change, read, status, seal] = await whileOff(HOUR, async () => [
      await cluster.post(1, "/v1/custody/approvers", registration("alice"), { "x-jwt-token": token }),
      await cluster.get(1, "/v1/custody/approvers/alice", { "x-jwt-token": token }),
      await cluster.get(1, "/v1/custody/system/status", { "x-jwt-token": token }),
      await cluster.post(1, "/v1/custody/system/seal", {}, { "x-jwt-token": token }),
    ]);
    expect(refusal(change)).toEqual(certain503("APPROVER_REPLICATION_UNAVAILABLE"));
    expect(change.json["members"]).toEqual([{ peerId: 1, reason: expect.stringMatching(/^its clock was set/) }]);
    expect(refusal(read)).toEqual(certain503("CLOCK_IN_DOUBT"));
    expect(refusal(seal)).toEqual(certain503("CLOCK_IN_DOUBT"));
    expect([status.status, status.json["detailMissing"]]).toEqual([
      200,
      { code: "CLOCK_IN_DOUBT", detail: expect.stringMatching(/^The clock of this peer was set/) },
    ]);
  });

  it("a token that had expired before is refused, and a good one is taken once the clock is right again", async () => {
    const expired = await cluster.mint(allPermissions, 1_000, realNow() - 60_000);
    const { status } = await whileOff(HOUR, () =>
      cluster.get(1, "/v1/custody/system/status", { "x-jwt-token": expired }),
    );
    expect(status).toBe(401);
    expect((await cluster.register(1, registration("bob"))).status).toBe(201);
  });
});
