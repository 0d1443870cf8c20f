import { describe, expect, it } from "vitest";
import { copyOf } from "../../../properties/cluster/Restoring.ts";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, relyingParty } from "../../../properties/cluster/Enrolling.ts";
import { Limits } from "../../base/Limits.ts";
import type { Message } from "../../Message.ts";
import type { PeerId } from "../../protocol/Topology.ts";

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
  expect(cluster.peers.get(restored)?.state.rejoining.recovery).toBeUndefined();
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

  it("names its approver where its confirmation was lost, and a copy of it is refused", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Outcome" && message.outcome._tag === "Confirmed" ? undefined : message;
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.pass(300);
    cluster.judge = () => ({ _tag: "Refused", reason: "revoked" });
    cluster.pass(5_000);
    expect(cluster.answers.get("finish")).toMatchObject({
      rejection: { code: "UNAUTHENTICATED", ref: expect.stringMatching(/^alice@sha256:/), outcomeUnknown: true },
    });
  });

  it("is 410 where only the latest deadline of its session is known", () => {
    const { cluster, offer } = finishedAndRestored(1);
    // Writer and entry peer in one: it asks for no other peer's row of the session.
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

describe("a finish that is not done yet", () => {
  it("leaves the outcome of its retry open past the deadline, while the very response is reserved", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    cluster.tamper = (_from, to, message) => (message._tag === "Votes" && to === 1 ? undefined : message);
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.settle();
    cluster.peers.get(1)?.stop();
    cluster.now += relyingParty.registrationTtlMillis + 1;
    finish(cluster, 2, "retry", offer.invitation, credential(offer));
    finish(cluster, 2, "other", offer.invitation, credential(offer, { seed: "other" }));
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(5_000);
    expect([2, 3].map((each) => cluster.tables.get(each)?.get("approvers")?.size)).toEqual([1, 1]);
    expect(codeOf(cluster, "retry")).toBe("REGISTRATION_EXPIRED");
    expect(cluster.answers.get("retry")).toMatchObject({
      rejection: { ref: expect.stringMatching(/^alice@sha256:/), outcomeUnknown: true },
    });
    expect(cluster.answers.get("other")).toMatchObject({ rejection: { outcomeUnknown: false } });
  });

  it("is not taken for done on the word of the writer, where another response has completed its session", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    const honest = credential(offer);
    // The other response is on its way to the writer when the first is done.
    let held: Message | undefined;
    cluster.tamper = (from, to, message) => {
      if (from !== 3 || to !== 1 || message._tag !== "Forward") return message;
      held = message;
      return undefined;
    };
    finish(cluster, 3, "other", offer.invitation, { ...honest, authenticatorAttachment: "platform" });
    cluster.settle();
    finish(cluster, 2, "first", offer.invitation, honest);
    cluster.settle();
    expect(codeOf(cluster, "first")).toBe("Registered");
    if (held?._tag !== "Forward") return expect.unreachable("nothing was forwarded");
    const [ref = ""] = cluster.tables.get(3)?.get("approvers")?.keys() ?? [];
    const { requestId } = held.forward;
    const message: Message = { _tag: "Outcome", requestId, outcome: { _tag: "Existing", ref } };
    cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
    expect(cluster.answers.has("other")).toBe(false);
  });
});
