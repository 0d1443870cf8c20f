import { describe, expect, it, vi } from "vitest";
import { Enrollees, enrollingElsewhere } from "./Enrollment.ts";
import { type Answered, ServerCluster } from "./ServerCluster.ts";

const codeOf = ({ status, json }: Answered): readonly [number, unknown] => [status, json["code"]];

describe("an enrollment while a member is sealed", () => {
  it("is 503 by its name through any peer, options and finish, and goes on afterwards", async () => {
    const two = await ServerCluster.found(2, enrollingElsewhere());
    try {
      const waiting = new Enrollees(two);
      const offered = await waiting.options(1, { id: "alice" });
      const finish = { invitation: offered.invitation, credential: waiting.credential(offered, "alice") };
      await two.post(2, "/v1/custody/system/seal", "");
      await two.unready(1);
      const path = "/v1/custody/approvers/webauthn/registration";
      const unavailable = {
        status: 503,
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        retryable: true,
        members: [{ peerId: 2, reason: "it is sealed" }],
      };
      for (const through of [1, 2]) {
        expect((await two.post(through, `${path}/options`, { id: "bob" })).json).toMatchObject(unavailable);
        expect((await two.post(through, `${path}/finish`, finish)).json).toMatchObject(unavailable);
      }
      await two.unseal(2);
      await two.ready(1);
      expect((await waiting.finish(2, finish)).status).toBe(201);
    } finally {
      await two.close();
    }
  });
});

describe("an enrollment's end", () => {
  it("comes with its deadline, and takes nobody's invitation before", async () => {
    const mono = await ServerCluster.found(1, enrollingElsewhere("registration-ttl: 2s"));
    try {
      const late = new Enrollees(mono);
      const [offered, finished] = [await late.options(1, { id: "late" }), await late.options(1, { id: "done" })];
      const honest = { invitation: finished.invitation, credential: late.credential(finished, "done") };
      expect((await late.finish(1, honest)).status).toBe(201);
      const { invitation } = offered;
      const unverified = { invitation, credential: late.credential(offered, "late", { flags: 0x41 }) };
      const refused = await late.finish(1, unverified);
      expect(refused.json).toMatchObject({ code: "INVALID_CEREMONY", errors: [{ code: "user_verification" }] });
      const body = { invitation, credential: late.credential(offered, "late") };
      await vi.waitFor(async () => expect((await late.finish(1, unverified)).status).toBe(410), { timeout: 20_000 });
      expect(codeOf(await late.finish(1, body))).toEqual([410, "REGISTRATION_EXPIRED"]);
      // The one that was completed says so to its own response only, and only until then.
      await vi.waitFor(async () => expect((await late.finish(1, honest)).status).toBe(410), { timeout: 20_000 });
      const other = { ...honest, credential: late.credential(finished, "another") };
      expect(codeOf(await late.finish(1, other))).toEqual([409, "REGISTRATION_COMPLETED"]);
    } finally {
      await mono.close();
    }
  });

  it("is where it is disabled, for callers and for the page", async () => {
    const mono = await ServerCluster.found(1);
    try {
      const path = "/v1/custody/approvers/webauthn/registration";
      for (const last of ["options", "finish"])
        expect(codeOf(await mono.post(1, `${path}/${last}`, {}))).toEqual([404, "WEBAUTHN_DISABLED"]);
      expect(codeOf(await mono.get(1, "/enroll"))).toEqual([404, "WEBAUTHN_DISABLED"]);
      expect((await mono.post(1, `${path}/options`, {}, { "x-jwt-token": "no" })).status).toBe(401);
    } finally {
      await mono.close();
    }
  });
});
