/** A key that is renewed while a destruction of it is under way: that needs none of the shares that are made. */
import { describe, expect, it } from "vitest";
import { type Cluster, codeOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, held, keeper, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { forbidden } from "../../../properties/cluster/Refused.ts";
import type { Message } from "../../Message.ts";
import type { PeerId } from "../../protocol/Topology.ts";

const made = (): Cluster => {
  const cluster = keyed();
  create(cluster, 2, "made");
  cluster.pass(400);
  return cluster;
};

/** Some messages are lost until it says otherwise. */
const losing = (cluster: Cluster, isLost: (from: PeerId, message: Message) => boolean): void => {
  cluster.tamper = (from, _to, message) => (isLost(from, message) ? undefined : message);
};

const isShare = (from: PeerId, message: Message): boolean => from === 1 && message._tag === "Keygen.Share";

const isLastAbortAck = (from: PeerId, message: Message): boolean =>
  from === 2 && message._tag === "Votes" && message.statements.some(({ statement }) => statement.kind === "ABORT_ACK");

describe("a renewal beside a destruction of its key", () => {
  it("is made where a member has refused that, and has not said yet that it is aborted", () => {
    const cluster = made();
    losing(cluster, isShare);
    renew(cluster, 3, "rotate", "rotate", 1);
    cluster.pass(100);
    cluster.judge = (peerId) => (peerId === 2 ? forbidden : keeper);
    losing(cluster, (from, message) => isShare(from, message) || isLastAbortAck(from, message));
    destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true });
    cluster.pass(300);
    expect(codeOf(cluster, "destroy")).toBe("UNAUTHENTICATED");
    cluster.judge = () => keeper;
    losing(cluster, isLastAbortAck);
    cluster.pass(1_000);
    expect(held(cluster).pending).toEqual([1, 1, 1]);
    cluster.tamper = whole;
    cluster.pass(4_000);
    expect(codeOf(cluster, "rotate")).toBe("KeyMade");
  });

  it.each<readonly [string, Cluster["tamper"]]>([
    [
      "one member's share comes to another",
      (from, to, message) => (from === 2 && to === 3 && message._tag === "Keygen.Share" ? undefined : message),
    ],
    [
      "a member's word that it has stored its share comes",
      (from, _to, message) => (from === 3 && message._tag === "Keygen.Stored" ? undefined : message),
    ],
  ])("is made where %s after that", (_what, losingSome) => {
    const cluster = made();
    renew(cluster, 2, "first", "rotate", 1);
    cluster.pass(400);
    cluster.tamper = losingSome;
    renew(cluster, 2, "rotate", "rotate", 2);
    cluster.pass(100);
    destroy(cluster, 2, "destroy", { baseGeneration: 2, generation: 1 });
    cluster.pass(300);
    expect(codeOf(cluster, "destroy")).toBe("KeyDestroyed");
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(codeOf(cluster, "rotate")).toBe("KeyMade");
  });
});
