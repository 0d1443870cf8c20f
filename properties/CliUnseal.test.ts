/** What share holders see of the ceremony: init, unseal and rekey. */
import { describe, expect, it } from "vitest";
import { against } from "./cli/Against.ts";
import { jsonReply, type Received, type Reply } from "./cli/FakeService.ts";

describe("the unsealing ceremony", () => {
  const progress = (needed: number) => {
    let have = 0;
    return (): Reply => {
      have += 1;
      return jsonReply(200, { state: have < needed ? "SEALED" : "UNSEALED", have, need: needed });
    };
  };

  it("prints the shares of init, each on a line of its own", async () => {
    const answer = { peerId: 2, threshold: 2, total: 3, shares64: ["c2hhcmUx", "c2hhcmUy"], sharesNeeded: 2 };
    const args = ["init", "--peer-id", "2", "--threshold", "2", "--total", "3"];
    const { code, stdout, received } = await against(() => jsonReply(200, answer), args);
    expect(code).toBe(0);
    expect(stdout).toContain("  share 1: c2hhcmUx\n  share 2: c2hhcmUy\n");
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({ peerId: 2, threshold: 2, total: 3 });
  });

  it("hands in shares from standard input until the peer is unsealed, and no further", async () => {
    const { code, stdout, stderr, received } = await against(progress(2), ["unseal"], {
      input: "c2E=\n\nc2I=\r\nc2M=\n",
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The peer is unsealed.\n" });
    expect(received.map(({ body }) => body)).toEqual(['{"share64":"c2E="}', '{"share64":"c2I="}']);
    expect(stderr).not.toContain("c2E");
  });

  it("shows how far the verification of the peer's records is, and waits for its end", async () => {
    const verifying = { rows: 1_024, of: 600_000 };
    const replies = [
      { state: "UNSEALED", have: 1, need: 1, verifying },
      { state: "UNSEALED", verifying },
      { state: "UNSEALED", verifying: { ...verifying, rows: 300_000 } },
      { state: "UNSEALED" },
      { readable: true },
    ];
    const { code, stdout, stderr, received } = await against(() => jsonReply(200, replies.shift()), ["unseal"], {
      input: "c2E=\n",
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The peer is unsealed.\n" });
    expect(stderr).toContain("1,024 of 600,000 rows\n  300,000 of 600,000 rows\n");
    expect(received.map(({ path }) => path)).toEqual([
      "/v1/custody/system/unseal",
      ...Array.from({ length: 3 }, () => "/v1/custody/system/status"),
      "/v1/custody/system/readable",
    ]);
  });

  it("ends with 1 when the peer is sealed before its records are verified", async () => {
    const verifying = { rows: 1_024, of: 600_000 };
    const replies = [{ state: "UNSEALED", have: 1, need: 1, verifying }, { state: "SEALED" }];
    const { code, stderr } = await against(() => jsonReply(200, replies.shift()), ["unseal"], { input: "c2E=\n" });
    expect(code).toBe(1);
    expect(stderr).toContain("before its records were verified");
  });

  it.each([
    ["to everybody", {}, { status: 503, code: "INTEGRITY_FAILURE", retryable: false }],
    ["to its operators", { detail: { integrityFault: "keys/a" } }, { status: 503, code: "RECOVERING" }],
  ])("ends with 1 when the peer says %s, after its verification, that its records do not hold", async (...each) => {
    const [, detail, problem] = each;
    const verifying = { rows: 1_024, of: 600_000 };
    const reply = ({ path }: Received): Reply => {
      if (path.endsWith("/readable")) return jsonReply(503, problem);
      return jsonReply(
        200,
        path.endsWith("/unseal")
          ? { state: "UNSEALED", have: 1, need: 1, verifying }
          : { state: "UNSEALED", ...detail },
      );
    };
    const { code, stdout, stderr } = await against(reply, ["unseal"], { input: "c2E=\n" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("records do not hold");
  });

  describe("at a peer whose audit has no room, which takes shares all the same", () => {
    const problem = { status: 503, code: "AUDIT_UNAVAILABLE", retryable: false, hint: "Look at the log." };
    /** One that needs so many shares. */
    const full = (need: number) => {
      let have = 0;
      return ({ method }: Received): Reply => {
        if (method === "POST") have += 1;
        if (method === "POST") return jsonReply(503, problem);
        return jsonReply(200, have < need ? { state: "SEALED", unsealing: { have, need } } : { state: "UNSEALED" });
      };
    };

    it("hands in what is on standard input, by the peer's status", async () => {
      const { code, stdout, stderr, received } = await against(full(2), ["unseal"], { input: "c2E=\nc2I=\nc2M=\n" });
      expect({ code, stdout }).toEqual({ code: 0, stdout: "The peer is unsealed.\n" });
      expect(received.filter(({ method }) => method === "POST")).toHaveLength(2);
      expect(stderr).toContain("share accepted, 1 of 2");
    });

    it("tells a script no number of shares that it does not know", async () => {
      const { code, stdout } = await against(full(1), ["unseal", "--json"], { input: "c2E=\n" });
      expect([code, JSON.parse(stdout)]).toEqual([0, { state: "UNSEALED" }]);
    });

    it("tells a holder of one share that it is in, and not recorded", async () => {
      const { code, stdout, stderr } = await against(full(3), ["unseal"], { input: "c2E=\n" });
      expect([code, stdout]).toEqual([0, expect.stringContaining("1 of 3 shares are in. It takes 2 more shares")]);
      expect(stderr).toContain("the share is taken, and the peer cannot record by whom");
    });

    it("ends with 1 where its status does not show that either", async () => {
      const reply = ({ method }: Received) =>
        method === "POST" ? jsonReply(503, problem) : jsonReply(200, { state: "SEALED" });
      const { code, stderr } = await against(reply, ["unseal"], { input: "c2E=\n" });
      expect([code, stderr]).toEqual([1, expect.stringContaining("AUDIT_UNAVAILABLE")]);
    });
  });

  it("ends with 2 when standard input is empty", async () => {
    const { code, stderr, received } = await against(progress(2), ["unseal"], { input: "\n" });
    expect({ code, sent: received.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toContain("holds no share");
  });

  it("says how many shares are missing, and asks nobody for the share of another holder", async () => {
    const { code, stdout, received } = await against(progress(3), ["unseal"], { input: "c2E=\n" });
    expect({ code, sent: received.length }).toEqual({ code: 0, sent: 1 });
    expect(stdout).toContain("1 of 3 shares are in. It takes 2 more shares; their holders run the same command.");
  });

  it("forgets what was handed in when told so", async () => {
    const { code, received } = await against(
      () => jsonReply(200, { state: "SEALED", have: 0, need: 3 }),
      ["unseal", "--reset"],
    );
    expect([code, received.map(({ body }) => body)]).toEqual([0, ['{"reset":true}']]);
  });
});

describe("a rekey", () => {
  const numbers = { shares: 5, threshold: 3 };

  it("begins with the numbers asked for, takes shares from standard input, and prints new ones once", async () => {
    const started = { step: "PRESENT_SHARES", have: 0, need: 2, ...numbers };
    const begun = await against(
      () => jsonReply(200, started),
      ["rekey", "--start", "--new-shares", "5", "--new-threshold", "3"],
    );
    expect([begun.code, begun.received[0]?.body]).toEqual([0, '{"start":true,"shares":5,"threshold":3}']);
    expect(begun.stdout).toContain("0 of 2 present shares are in. It takes 2 more shares");
    const made = { ...started, step: "NEW_SHARES", need: 3, shares64: ["c2hhcmUx"] };
    const { code, stdout, stderr } = await against(() => jsonReply(200, made), ["rekey"], { input: "c2E=\n" });
    expect(code).toBe(0);
    expect(stdout).toContain("  share 1: c2hhcmUx\n");
    expect(stdout + stderr).not.toContain("c2E=");
    const done = await against(() => jsonReply(200, { step: "DONE", have: 3, need: 3 }), ["rekey"], {
      input: "c2E=\n",
    });
    expect(done.stdout).toContain("The new shares unseal this peer from now on");
    const given = await against(() => jsonReply(200, { step: "NONE", have: 0, need: 0 }), ["rekey", "--reset"]);
    expect([given.code, given.received[0]?.body]).toEqual([0, '{"reset":true}']);
  });

  it("says in its help that both numbers are given, or none", async () => {
    const { stdout } = await against(() => jsonReply(500, {}), ["rekey", "--help"]);
    expect(stdout).toContain("With --start and --new-threshold: how many new shares.");
    expect(stdout).toContain("With --start and --new-shares: how many of them unseal.");
  });

  it("refuses options that do not go together", async () => {
    const { code, received } = await against(() => jsonReply(500, {}), ["rekey", "--new-shares", "5"]);
    expect([code, received.length]).toEqual([2, 0]);
  });
});
