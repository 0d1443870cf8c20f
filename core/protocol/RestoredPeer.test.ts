import { describe, expect, it } from "vitest";
import { actor, whole, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";

describe("a restored peer", () => {
  it("is not put out by what another life of it signed, which reaches it before who has that life on record", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(1));
    declare(cluster, 1);
    cluster.pass(5_000);
    const first = stateOf(cluster, 1).chain.incarnation;
    cluster.tamper = (_from, to, message) => (to === 1 && message._tag === "Votes" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 2).preparations.size).toBe(1);
    // The others ask their new writer about its own proposal; what they say of its lives is on the way.
    cluster.clockOffset = -3_600_000;
    cluster.tamper = (_from, to, message) =>
      to === 1 && (message._tag === "Ready" || message._tag === "ReadyProbe") ? undefined : message;
    comeBackOn(cluster, 1, old);
    expect(stateOf(cluster, 1).chain.incarnation).toBeLessThan(first);
    cluster.pass(4_000);
    expect(stateOf(cluster, 1).quarantine).toBeUndefined();
    expect(stateOf(cluster, 1).chain.incarnation).toBeGreaterThan(first);
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 1);
  });

  it("answers the writer that waits for the end of what nobody else knows any more", () => {
    const cluster = founded();
    cluster.judge = (peerId) => (peerId === 1 ? actor : { _tag: "Refused", reason: "test" });
    cluster.tamper = (_from, _to, message) => (message._tag === "AbortRequest" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    expect(stateOf(cluster, 1).aborting.size).toBe(1);
    expect([stateOf(cluster, 2).refused.size, stateOf(cluster, 3).refused.size]).toEqual([1, 1]);
    // Each takes the registry from the other, which has not come to an end with it and keeps it to itself.
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "AbortRequest") return undefined;
      const isSpoilt = from === 1 && message._tag === "SnapshotOffer";
      return isSpoilt ? { ...message, cutoff: { ...message.cutoff, root: message.nonce } } : message;
    };
    for (const peerId of [2, 3]) {
      declare(cluster, peerId);
      cluster.pass(5_000);
      expect(stateOf(cluster, peerId).recovery).toBeUndefined();
      expect(stateOf(cluster, peerId).refused.size).toBe(0);
    }
    cluster.tamper = whole;
    cluster.pass(15_000);
    expectWhole(cluster, 0);
    cluster.judge = () => actor;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("that is the writer goes on within what the others vote on, whatever it had reserved that nobody heard of", () => {
    const cluster = founded();
    cluster.tamper = (_from, _to, message) => (message._tag === "Prepare" ? undefined : message);
    for (let at = 0; at < 256; at++) cluster.register(1, `lost ${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    expect(stateOf(cluster, 1).preparations.size).toBe(256);
    declare(cluster, 1);
    cluster.pass(5_000);
    expectWhole(cluster, 0);
    cluster.tamper = whole;
    register(cluster, "alice", 7);
    expect(cluster.answers.get("register alice")).toMatchObject({ _tag: "Registered", created: true });
    cluster.pass(2_000);
    expectWhole(cluster, 1);
  });
});
