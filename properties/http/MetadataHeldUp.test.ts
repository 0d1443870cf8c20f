/** Replacement of metadata while a member is in the way (contract 7, 10.4): the answer tells what to do. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

const metadata = { team: "b" };
const ATTEMPTS = 10;

let cluster: ServerCluster;
let ref: string;
let registered = 0;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, "approvers: {answer-timeout: 2s}");
});
afterAll(async () => {
  await cluster.close();
});

const allReady = async (): Promise<void> => {
  await cluster.unseal(3);
  for (const id of cluster.ids) await cluster.ready(id);
};

beforeEach(async () => {
  await allReady();
  const body = registration(`approver-${registered++}`);
  // On a busy machine the two seconds of this cluster may be over; the same again finds out.
  ref = await vi.waitFor(
    async () => {
      const { status, json } = await cluster.register(1, body);
      expect([200, 201]).toContain(status);
      return String(json["ref"]);
    },
    { timeout: 20_000 },
  );
});

/** Asks once peer 3 is sealed and the others have not noticed it: they do within a second, and then it is tried anew. */
const openOutcome = async (through: number): Promise<Answered> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await cluster.post(3, "/v1/custody/system/seal", "");
    const answered = await cluster.replace(through, ref, '"1"', { metadata });
    if (answered.json["outcomeUnknown"] === true) return answered;
    expect(answered.json).toMatchObject({ code: "APPROVER_REPLICATION_UNAVAILABLE", retryable: true });
    await allReady();
  }
  throw new Error("every outcome was certain");
};

describe("a member in the way of a replacement", () => {
  it.each([1, 2])(
    "leaves its outcome unknown through peer %i; a read tells it, so does a repetition",
    async (through) => {
      const unknown = await openOutcome(through);
      expect(unknown.json).toMatchObject({
        status: 503,
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        retryable: true,
        ref,
        hint: expect.stringMatching(/^Read the approver before you repeat the request/),
      });
      await allReady();
      await vi.waitFor(
        async () => {
          for (const id of cluster.ids) {
            const { json } = await cluster.read(id, ref);
            expect(json).toMatchObject({ metadata, metadataRevision: 2 });
          }
        },
        { timeout: 20_000 },
      );
      const again = await cluster.replace(through, ref, '"1"', { metadata });
      expect(again.json).toMatchObject({
        status: 412,
        code: "PRECONDITION_FAILED",
        hint: expect.stringMatching(/if it has your metadata, an earlier request was done/),
      });
    },
  );

  it("is named, leaves the record as it is, and lets the same request through once it is back", async () => {
    await cluster.post(3, "/v1/custody/system/seal", "");
    for (const id of cluster.ids) await cluster.unready(id);
    for (const through of [1, 2, 3]) {
      const refused = await cluster.replace(through, ref, '"1"', { metadata });
      expect(refused.json).toMatchObject({
        status: 503,
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        retryable: true,
        members: [{ peerId: 3 }],
      });
      expect(refused.json["outcomeUnknown"]).toBeUndefined();
    }
    await allReady();
    expect((await cluster.read(2, ref)).json["metadataRevision"]).toBe(1);
    expect((await cluster.replace(2, ref, '"1"', { metadata })).headers.get("etag")).toBe('"2"');
  });
});
