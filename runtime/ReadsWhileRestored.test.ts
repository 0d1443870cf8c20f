/** Reads at a restored peer before it is a member again: nothing, or the whole registry (contract 10.1). */
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { actor, type Cluster, founded, NOW } from "../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../properties/cluster/Restoring.ts";
import { openStep } from "../properties/cluster/OpenStep.ts";
import type { MemoryTables } from "./MemoryByteStore.ts";
import { readApprover } from "./Reads.ts";

const refOf = (cluster: Cluster, request: string): string => {
  const answer = cluster.answers.get(request);
  if (answer?._tag !== "Registered") throw new Error(`${request} was not registered`);
  return answer.approver.ref;
};

const reader: ActorCheck =
  actor._tag === "Verified"
    ? { ...actor, claims: { ...actor.claims, permissions: ["service.approvers.read"] } }
    : actor;

/** The result of a read at a peer: the approver's id, or the code of a refusal. */
const readAt = (cluster: Cluster, peerId: number, ref: string): string => {
  const { view, crypto, settings } = openStep(cluster, peerId).context;
  const integrityLost = (where: string): void => {
    throw new Error(where);
  };
  const read = readApprover(
    { view, state: stateOf(cluster, peerId), crypto, settings, clock: { now: NOW, asBefore: [] }, integrityLost },
    reader,
    ref,
  );
  return Either.match(read, { onLeft: ({ code }) => code, onRight: ({ approver }) => approver.id });
};

/** The second of three comes back on a disk without bob, and the third is away. */
const restoredBesideOne = (): { readonly cluster: Cluster; readonly bob: string; readonly alone: MemoryTables } => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const old = copyOf(cluster.tables.get(2));
  register(cluster, "bob", 8);
  cluster.peers.get(3)?.stop();
  comeBackOn(cluster, 2, old);
  return { cluster, bob: refOf(cluster, "register bob"), alone: old };
};

describe("a restored peer while a third member is away", () => {
  it("shows nothing of its old disk, and everything once it has it from the other one", () => {
    const { cluster, bob } = restoredBesideOne();
    expect(readAt(cluster, 2, bob)).toBe("RECOVERING");
    cluster.pass(6_000);
    expect(readAt(cluster, 2, bob)).toBe("bob");
    expect(stateOf(cluster, 2).rejoining.recovery?.waitsFor).toContain("on record");
    expect(stateOf(cluster, 2).registry.approvers).toBe(2);
  });

  it("signs nothing meanwhile, and is a member again when the third is back", () => {
    const { cluster } = restoredBesideOne();
    const before = stateOf(cluster, 2).signed.chain;
    cluster.pass(6_000);
    expect(stateOf(cluster, 2).signed.chain).toEqual(before);
    cluster.start(3);
    cluster.pass(5_000);
    expectWhole(cluster, 2);
    expect(cluster.tables.get(2)?.get("readable")?.size).toBe(0);
  });

  it("goes on showing it in its next process, and in no other incarnation", () => {
    const { cluster, bob, alone } = restoredBesideOne();
    cluster.pass(6_000);
    cluster.peers.get(2)?.stop();
    cluster.start(2);
    expect(readAt(cluster, 2, bob)).toBe("bob");
    const shown = copyOf(cluster.tables.get(2));
    comeBackOn(cluster, 2, alone);
    expect(readAt(cluster, 2, bob)).toBe("RECOVERING");
    comeBackOn(cluster, 2, shown);
    expect(readAt(cluster, 2, bob)).toBe("RECOVERING");
  });

  it("shows nothing where the other one has something undecided, or is restored itself", () => {
    for (const change of [
      { uncommitted: 1 },
      { mode: "recovering" },
      { mode: "joining" },
      { recorded: undefined },
    ] as const) {
      const { cluster, bob } = restoredBesideOne();
      cluster.tamper = (_from, _to, message) => (message._tag === "Ready" ? { ...message, ...change } : message);
      cluster.pass(6_000);
      expect(readAt(cluster, 2, bob)).toBe("RECOVERING");
    }
  });

  it("shows nothing where two others do not agree, and everything where one of them only cannot take part", () => {
    for (const [change, code] of [
      [{ registryRoot: "ab".repeat(32) }, "RECOVERING"],
      [{ mode: "quarantined" }, "alice"],
    ] as const) {
      const cluster = founded();
      register(cluster, "alice", 7);
      declare(cluster, 2);
      cluster.tamper = (from, _to, message) =>
        message._tag === "Ready" && from === 3 ? ({ ...message, ...change } as typeof message) : message;
      cluster.pass(6_000);
      expect(readAt(cluster, 2, refOf(cluster, "register alice"))).toBe(code);
      expect(stateOf(cluster, 2).rejoining.recovery).toBeDefined();
    }
  });
});
