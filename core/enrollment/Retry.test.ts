import { describe, expect, it } from "vitest";
import type { Cluster } from "../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, relyingParty } from "../../properties/cluster/Enrolling.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { Limits } from "../Limits.ts";
import type { PeerId } from "../protocol/Topology.ts";

const codeOf = (cluster: Cluster, requestId: string): unknown => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection.code : answer?._tag;
};
const copyOf = (tables: MemoryTables | undefined): MemoryTables =>
  new Map([...(tables ?? [])].map(([table, rows]) => [table, new Map(rows)]));

/** A finish that is done, and then one peer restored by declaration from a backup older than the session. */
const finishedAndRestored = (restored: PeerId) => {
  const cluster = enrolling(3);
  const backup = copyOf(cluster.tables.get(restored));
  const offer = offerOf(cluster, 1, "options");
  finish(cluster, 2, "finish", offer.invitation, credential(offer));
  cluster.pass(3_000);
  cluster.peers.get(restored)?.stop();
  cluster.tables.set(restored, backup);
  cluster.start(restored);
  cluster.peers.get(restored)?.dispatch({ _tag: "DeclareRestore", requestId: "declare" });
  cluster.pass(10_000);
  expect(cluster.peers.get(restored)?.state.recovery).toBeUndefined();
  return { cluster, offer };
};

describe("a finish that is done", () => {
  it.each([
    [3, 3],
    [1, 2],
    [1, 1],
  ] as const)(
    "is 200 again after peer %i was restored from before its session, through peer %i",
    (restored, through) => {
      const { cluster, offer } = finishedAndRestored(restored);
      finish(cluster, through, "retry", offer.invitation, credential(offer));
      finish(cluster, through, "other", offer.invitation, credential(offer, { seed: "other" }));
      cluster.pass(3_000);
      expect(cluster.answers.get("retry")).toMatchObject({ _tag: "Registered", created: false });
      expect(codeOf(cluster, "other")).toBe("REGISTRATION_COMPLETED");
    },
  );

  it("is 410 where only the latest deadline of its session is known", () => {
    const { cluster, offer } = finishedAndRestored(1);
    // Writer and entry peer in one: nobody else's row of the session is asked for.
    cluster.pass(Limits.registrationTtlMillis);
    finish(cluster, 1, "late", offer.invitation, credential(offer));
    expect(codeOf(cluster, "late")).toBe("REGISTRATION_EXPIRED");
  });

  it.each([
    ["another origin is added", ["http://localhost:8080", "http://localhost:9090"]],
    ["its origin is taken away", ["http://localhost:9090"]],
  ] as const)("is 200 again under another configuration: %s", (_what, origins) => {
    let override: object = {};
    const cluster = enrolling(2, () => override);
    const offer = offerOf(cluster, 1, "options");
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.pass(3_000);
    override = { configDigest: "22".repeat(32), relyingParty: { ...relyingParty, origins } };
    for (const peerId of [1, 2]) {
      cluster.peers.get(peerId)?.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    finish(cluster, 2, "retry", offer.invitation, credential(offer));
    cluster.pass(3_000);
    expect(cluster.answers.get("retry")).toMatchObject({ _tag: "Registered", created: false });
  });
});
