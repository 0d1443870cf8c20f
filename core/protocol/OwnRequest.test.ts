import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import type { Digest } from "../Digest.ts";
import { isMadeBy, noteApplied } from "./OwnRequest.ts";
import type { Proposal } from "./Proposal.ts";

/** A replacement and a registration wait at the second of three members; the proposal is what the first one made. */
const waiting = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const [alice] = cluster.tables.get(2)?.get("approvers")?.keys() ?? [];
  if (alice === undefined) throw new Error("alice is registered");
  cluster.tamper = (_from, _to, message) => (message._tag === "Votes" ? undefined : message);
  cluster.replace(2, "change", alice, '"1"', { team: "b" });
  cluster.settle();
  const [preparation] = stateOf(cluster, 2).preparations.values();
  const [awaited] = stateOf(cluster, 2).awaited.values();
  if (preparation === undefined || awaited?.request.kind !== "METADATA") throw new Error("nothing was proposed");
  const { forward, request } = awaited;
  cluster.register(2, "other", "bob", 8);
  return { cluster, proposal: preparation.proposal, forward, request };
};
const { cluster, proposal, forward, request } = waiting();

const others: ReadonlyArray<readonly [string, Proposal]> = [
  ["of another kind", { ...proposal, kind: "REGISTER" }],
  ["that entered elsewhere", { ...proposal, entryPeer: 3 }],
  ["of another approver", { ...proposal, effects: { ...proposal.effects, ref: "another" } }],
  ["of another revision", { ...proposal, effects: { ...proposal.effects, baseRevision: 2 } }],
  ["from another body", { ...proposal, request: { ...proposal.request, bodyDigest: "00".repeat(32) as Digest } }],
];

describe("a proposal", () => {
  it("is a request's own where it entered here and is its like in every byte", () => {
    expect(isMadeBy(turnOf(cluster, 2), forward, request, proposal)).toBe(true);
  });

  it.each(others)("%s is not a request's own", (_which, other) => {
    expect(isMadeBy(turnOf(cluster, 2), forward, request, other)).toBe(false);
  });
});

describe("a replacement that was applied", () => {
  /** The requests that this peer then knows to be done. */
  const done = (other: Proposal): ReadonlyArray<string> => {
    const turn = turnOf(cluster, 2);
    noteApplied(turn, other);
    return [...turn.state.awaited.values()].flatMap((each) => (each.isApplied ? [each.request.kind] : []));
  };

  it("is remembered with the request that it came from, and with no other that waits", () => {
    expect(stateOf(cluster, 2).awaited.size).toBe(2);
    expect(done(proposal)).toEqual(["METADATA"]);
  });

  it.each(others)("%s is remembered with none", (_which, other) => {
    expect(done(other)).toEqual([]);
  });
});
