import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { actor, founded, whole } from "../../properties/cluster/Cluster.ts";
import { Limits } from "../Limits.ts";
import { REGISTER_PATH } from "../registry/Registration.ts";

describe("uncommitted preparations", () => {
  it("are 256 at most, expired ones included: the next request is refused 429 by name, until some are settled", () => {
    const cluster = founded();
    const uncommitted = (): ReadonlyArray<number | undefined> =>
      [1, 2].map((peerId) => cluster.peers.get(peerId)?.state.preparations.size);
    const oneMore = (through: number, requestId: string): void => {
      const publicKey64 = Buffer.alloc(32, 1).toString("base64");
      const body = { id: "one-more", credential: { type: "SIGNATURE", algorithm: "SLHDSA_SHA2_128S", publicKey64 } };
      const rawBody = utf8ToBytes(JSON.stringify(body));
      cluster.ask(through, requestId, { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody });
    };
    // Peer 3 refuses everything, and the votes to abort get lost: what the others have prepared stays.
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "revoked" } : actor);
    cluster.tamper = (_from, _to, message) =>
      message._tag === "AbortRequest" || message._tag === "SettleAnswer" ? undefined : message;
    const most = Limits.preparations;
    expect(most).toBe(256);
    for (let seed = 0; seed < most; seed += 1) cluster.register(1, `r${seed}`, `id-${seed}`, seed);
    cluster.pass(100);
    expect(uncommitted()).toEqual([most, most]);
    const refusedFor = (peerId: number) => ({
      rejection: { code: "PREPARATION_CAPACITY", members: [{ peerId }], outcomeUnknown: false },
    });
    oneMore(1, "full");
    cluster.pass(2_000);
    // What the others said a moment ago still counts, so that the writer finds itself full.
    expect(cluster.answers.get("full")).toMatchObject(refusedFor(1));
    // Their deadline frees nothing.
    cluster.pass(Limits.proposalMillis + 1_000);
    oneMore(2, "after-the-deadline");
    cluster.pass(2_000);
    expect(cluster.answers.get("after-the-deadline")).toMatchObject(refusedFor(2));
    expect(uncommitted()).toEqual([most, most]);
    cluster.tamper = whole;
    cluster.judge = () => actor;
    cluster.pass(20_000);
    expect(uncommitted()).toEqual([0, 0]);
    oneMore(3, "settled");
    cluster.pass(2_000);
    expect(cluster.answers.get("settled")).toMatchObject({ _tag: "Registered", created: true });
  });
});
