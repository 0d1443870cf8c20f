import { describe, expect, it } from "vitest";
import type { Digest } from "../base/Digest.ts";
import type { Message } from "../Message.ts";
import { Cluster, codeOf } from "../../properties/cluster/Cluster.ts";
import { expectDone, promote, withApprover } from "../../properties/cluster/Promoting.ts";
import { copyOf, declare, diskAfter, stateOf } from "../../properties/cluster/Restoring.ts";
import { modeOf } from "./Mode.ts";

const reasonOf = (cluster: Cluster, requestId: string): string | undefined => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection.members[0]?.reason : answer?._tag;
};

const ASKS = "it was started, and asks the peers of its configuration whether it was promoted";

describe("an instance that is alone and was started again", () => {
  it("takes changes as soon as each peer of its configuration has answered", () => {
    const cluster = withApprover();
    cluster.start(2);
    cluster.settle();
    cluster.register(2, "next", "bob", 2);
    cluster.pass(100);
    expect(codeOf(cluster, "next")).toBe("Registered");
  });

  it.each(["nobody", "one of two peers"])("takes none for five seconds where %s answers", (who) => {
    const cluster = withApprover();
    const isHeard = (from: number): boolean => who !== "nobody" && from === 1;
    cluster.tamper = (from, _to, message) =>
      message._tag === "Promotion.Standing" && !isHeard(from) ? undefined : message;
    cluster.start(2);
    cluster.pass(4_500);
    cluster.register(2, "early", "bob", 2);
    cluster.pass(100);
    expect(reasonOf(cluster, "early")).toBe(ASKS);
    cluster.pass(500);
    cluster.register(2, "then", "bob", 2);
    cluster.pass(100);
    expect(codeOf(cluster, "then")).toBe("Registered");
  });

  it("asks the silent alone again, and nobody after that", () => {
    const cluster = withApprover();
    const asked: Array<number> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Promotion.Ask") asked.push(to);
      return message._tag === "Promotion.Standing" && from === 3 && asked.length < 3 ? undefined : message;
    };
    cluster.start(2);
    cluster.pass(10_000);
    expect(asked).toEqual([1, 3, 3]);
  });

  it("believes no answer to another question", () => {
    const cluster = withApprover();
    cluster.tamper = (_from, _to, message) =>
      message._tag === "Promotion.Standing" ? { ...message, nonce: "00".repeat(32) as Digest } : message;
    cluster.start(2);
    cluster.pass(1_000);
    cluster.register(2, "early", "bob", 2);
    cluster.pass(100);
    expect(reasonOf(cluster, "early")).toBe(ASKS);
  });

  it("takes what one peer was asked for nobody else's answer", () => {
    const cluster = withApprover();
    const told: Array<Message> = [];
    cluster.tamper = (from, _to, message) => {
      if (message._tag !== "Promotion.Standing") return message;
      if (from === 1) told.push(message);
      return from === 1 ? message : undefined;
    };
    cluster.start(2);
    cluster.pass(100);
    for (const message of told) cluster.dispatch(2, { _tag: "Deliver", from: 3, message, actors: [] });
    cluster.register(2, "early", "bob", 2);
    cluster.pass(100);
    expect(told).toHaveLength(1);
    expect(reasonOf(cluster, "early")).toBe(ASKS);
  });

  it("may be promoted meanwhile: its targets are asked for that too", () => {
    const cluster = withApprover();
    cluster.start(2);
    promote(cluster);
    cluster.pass(10_000);
    expectDone(cluster);
  });

  it("asks nobody where its configuration names no peer", () => {
    const cluster = new Cluster(1);
    cluster.pass(100);
    cluster.start(1);
    cluster.register(1, "next", "bob", 2);
    cluster.pass(100);
    expect(codeOf(cluster, "next")).toBe("Registered");
  });
});

it.each(["its promotion", "its founding"])(
  "an instance on a disk from before %s takes no change before it is shown the decision",
  (event) => {
    const cluster = withApprover();
    const backup = copyOf(event === "its founding" ? diskAfter(cluster, 2, 1) : cluster.tables.get(2));
    promote(cluster);
    cluster.pass(10_000);
    cluster.tables.set(2, backup);
    const whole = cluster.tamper;
    cluster.tamper = () => undefined;
    cluster.start(2);
    expect(modeOf(stateOf(cluster, 2))).toBe("active");
    cluster.register(2, "early", "bob", 2);
    cluster.pass(100);
    expect(reasonOf(cluster, "early")).toBe(ASKS);
    cluster.tamper = whole;
    cluster.pass(1_000);
    expect(modeOf(stateOf(cluster, 2))).toBe("quarantined");
    declare(cluster, 2);
    cluster.pass(15_000);
    expectDone(cluster);
  },
);
