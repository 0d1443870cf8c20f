import { NEWEST } from "../codec/Versioned.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { describe, expect, it } from "vitest";
import { actor, type Cluster, crypto, founded, rowsOf } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { attest, type Call } from "./Forward.ts";
import type { PeerId } from "./Topology.ts";

/** The messages to a member that only votes when somebody registers an approver through the writer. */
const shownTo = (cluster: Cluster, voter: PeerId): { readonly call: Call; readonly token: string } => {
  const shown: Array<{ readonly call: Call; readonly token: string }> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Prepare" && to === voter) shown.push(...message.items.map((item) => item.evidence));
    return message;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.pass(1_500);
  const [evidence] = shown;
  if (evidence === undefined) throw new Error("it was asked to vote");
  return evidence;
};

/** A member sends the writer a request of its own making under a token it has seen. */
const useToken = (cluster: Cluster, voter: PeerId, token: string, call: Call, check: ActorCheck = actor): void => {
  const {
    cluster: { membership },
    fitness: { process },
  } = stateOf(cluster, voter);
  const key = cluster.keys.get(voter);
  if (membership === undefined || process === undefined || key === undefined) throw new Error("it is a member");
  const arrival = { process, at: cluster.now };
  const made = {
    version: NEWEST,
    requestId: "made up",
    entryPeer: voter,
    call,
    token,
    receivedAt: cluster.now,
    arrival,
  };
  const message = { _tag: "Forward", forward: attest(crypto, key, membership, made) } as const;
  cluster.peers.get(1)?.dispatch({ _tag: "Deliver", from: voter, message, actors: [check] });
  cluster.pass(1_500);
};

/** The same request for another approver and key. */
const another = (call: Call): Call => {
  const body = new TextDecoder().decode(call.rawBody);
  const publicKey64 = Buffer.from(ed25519.getPublicKey(new Uint8Array(32).fill(9))).toString("base64");
  const rawBody = new TextEncoder().encode(
    body.replace("alice", "mallory").replace(/"publicKey64":"[^"]*"/, `"publicKey64":"${publicKey64}"`),
  );
  return { ...call, rawBody };
};

describe("a token that a voter was shown (decision 0025)", () => {
  it("lets it change what the token allows in its bearer's name, and the audit of every member names it", () => {
    const cluster = founded();
    const { call, token } = shownTo(cluster, 3);
    useToken(cluster, 3, token, another(call));
    expect(rowsOf(cluster, "approvers")).toEqual([2, 2, 2]);
    for (const peerId of cluster.peers.keys()) {
      // The founding is the first.
      const audit = (seq: number) => cluster.row(peerId, "audit", String(seq).padStart(16, "0"));
      expect(audit(2)).toMatchObject({ actor: { sub: "operator" }, entryPeer: 1 });
      expect(audit(3)).toMatchObject({ actor: { sub: "operator" }, entryPeer: 3 });
      expect(audit(3)?.approverRef).toMatch(/^mallory@/);
    }
  });

  it("is worth nothing to it past the token's end, or without the permission, at any other member", () => {
    const cluster = founded();
    const { call, token } = shownTo(cluster, 3);
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    const over: ActorCheck = { _tag: "Verified", claims: { ...actor.claims, expiresAt: cluster.now } };
    const reader: ActorCheck = {
      _tag: "Verified",
      claims: { ...actor.claims, permissions: ["service.approvers.read"] },
    };
    for (const check of [over, reader]) {
      cluster.judge = () => check;
      useToken(cluster, 3, token, another(call), check);
    }
    expect(rowsOf(cluster, "approvers")).toEqual([1, 1, 1]);
  });
});
