import { describe, expect, it } from "vitest";
import { actor, codeOf, whole } from "../../properties/cluster/Cluster.ts";
import type { Message, MessageOf } from "../Message.ts";
import { locks, registered, revisions, rows } from "../../properties/cluster/Replacing.ts";

describe("delivery of a replacement", () => {
  it("that comes again after a later one changes nothing and is acknowledged from what is stored", () => {
    const { cluster, ref } = registered();
    const commits: Array<Message> = [];
    const acks: Array<Message> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Commit" && to === 3 && message.certificates.length > 0) commits.push(message);
      if (message._tag === "CommitAcks" && from === 3) acks.push(message);
      return message;
    };
    cluster.replace(1, "b", ref, '"1"', { team: "b" });
    cluster.pass(2_000);
    const [old] = commits;
    const [firstAck] = acks;
    cluster.replace(1, "c", ref, '"2"', { team: "c" });
    cluster.pass(2_000);
    const batch = cluster.peers.get(3)?.state.signed.chain.batchNo;
    acks.length = 0;
    if (old !== undefined) cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message: old, actors: [] });
    expect(acks).toEqual([firstAck]);
    expect(cluster.peers.get(3)?.state.signed.chain.batchNo).toBe(batch);
    expect(rows(cluster, ref)[2]).toMatchObject({ revision: 3, metadata: [["team", "c"]] });
  });

  it("is completed by the others when the writer is gone, and by the writer when it is back", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, to, message) => (message._tag === "Votes" && to === 1 ? undefined : message);
    cluster.replace(2, "change", ref, '"1"', { team: "b" });
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.tamper = whole;
    cluster.pass(6_000);
    expect(revisions(cluster, ref)).toEqual([1, 2, 2]);
    cluster.start(1);
    cluster.pass(6_000);
    expect(revisions(cluster, ref)).toEqual([2, 2, 2]);
    expect(locks(cluster)).toEqual([0, 0, 0]);
  });

  it("is aborted when the writer has lost the evidence, and the revision is free for the next one", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 3 ? undefined : message);
    cluster.replace(1, "change", ref, '"1"', { team: "b" });
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    expect([...(cluster.peers.get(1)?.state.undecided.locks.keys() ?? [])]).toEqual([`meta:${ref}`]);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expect(revisions(cluster, ref)).toEqual([1, 1, 1]);
    cluster.replace(2, "next", ref, '"1"', { team: "c" });
    cluster.pass(500);
    expect(codeOf(cluster, "next")).toBe("Replaced");
    expect(locks(cluster)).toEqual([0, 0, 0]);
  });
});

describe("the answer to a replacement", () => {
  it("is never a certain no where the change was made and its confirmation was lost", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Outcome" && message.outcome._tag === "Confirmed" ? undefined : message;
    cluster.replace(3, "change", ref, '"1"', { team: "b" });
    cluster.pass(5_000);
    expect(revisions(cluster, ref)).toEqual([2, 2, 2]);
    expect(cluster.answers.get("change")).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", outcomeUnknown: true, ref },
    });
  });

  it("is no success that another caller's change gave, or a registration", () => {
    const { cluster, ref } = registered();
    let confirmed: MessageOf<"Outcome"> | undefined;
    cluster.tamper = (_from, _to, message) => {
      if (message._tag !== "Outcome") return message;
      if (message.outcome._tag === "Confirmed") confirmed ??= message;
      // A lying writer tells the second caller of the first one's success.
      return message.requestId === "second" && confirmed !== undefined
        ? { ...message, outcome: confirmed.outcome }
        : message;
    };
    cluster.replace(3, "first-change", ref, '"1"', { team: "b" });
    cluster.settle();
    cluster.replace(3, "second", ref, '"1"', { team: "c" });
    cluster.pass(1_000);
    expect(codeOf(cluster, "first-change")).toBe("Replaced");
    expect(cluster.answers.has("second")).toBe(false);
  });

  it("is not turned into a success by a writer that names an approver that exists", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Outcome" ? { ...message, outcome: { _tag: "Existing", ref } } : message;
    cluster.replace(3, "change", ref, '"9"', { team: "b" });
    cluster.pass(1_000);
    expect(cluster.answers.has("change")).toBe(false);
  });

  it("stays no when a copy arrives after what it lacked has come about", () => {
    const { cluster, ref } = registered();
    const copies: Array<Message> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "Forward") copies.push(message);
      return message;
    };
    cluster.replace(3, "early", ref, '"2"', { team: "early" });
    cluster.pass(100);
    expect(codeOf(cluster, "early")).toBe("PRECONDITION_FAILED");
    cluster.replace(1, "change", ref, '"1"', { team: "b" });
    cluster.pass(100);
    for (const message of copies)
      cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: 3, message, actors: [actor] });
    cluster.pass(1_000);
    expect(copies.length).toBeGreaterThan(0);
    for (const row of rows(cluster, ref)) expect(row).toMatchObject({ revision: 2, metadata: [["team", "b"]] });
  });

  it("says so when nobody can decide in time, and to read before repeating", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 2 ? undefined : message);
    cluster.replace(3, "change", ref, '"1"', { team: "b" });
    cluster.pass(10_000);
    expect(cluster.answers.get("change")).toMatchObject({
      rejection: {
        outcomeUnknown: true,
        hint: "Read the approver before you repeat the request: the next revision with your metadata means that it was done; at the same revision, repeat it.",
        members: [{ peerId: 2 }],
      },
    });
  });
});
