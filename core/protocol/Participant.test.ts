import { NEWEST } from "../codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import { altered, approverIn, asFinish } from "../../properties/cluster/AlteredEffects.ts";
import { actor, Cluster, NOW } from "../../properties/cluster/Cluster.ts";
import { receiptOfWriter } from "../../properties/cluster/Forging.ts";
import type { Approver } from "../commands/approvers/Approver.ts";
import { replaceMetadataEffects } from "../commands/replaceMetadata/ReplaceMetadata.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

type Item = MessageOf<"Prepare">["items"][number];

/** A founded cluster of three whose writer changes its proposals to the others; returns their votes. */
const votesOn = (
  lie: (item: Item) => Partial<Item>,
  prepare: (cluster: Cluster) => void = () => undefined,
  entryPeer = 2,
) => {
  const cluster = new Cluster(3);
  cluster.pass(2_000);
  const votes: Array<{ readonly from: number; readonly kind: string; readonly detail: string }> = [];
  cluster.tamper = (from, _to, message): Message | undefined => {
    if (message._tag === "Votes")
      for (const { statement } of message.statements)
        votes.push({ from, kind: statement.kind, detail: statement.detail });
    // Only the votes are looked at here, not the settlement after them.
    if (message._tag === "AbortRequest") return undefined;
    if (message._tag !== "Prepare") return message;
    const items = message.items.map((item) => {
      const changed = { ...item, ...lie(item) };
      const isNew = changed.proposal !== item.proposal && changed.receipt === item.receipt;
      return isNew ? { ...changed, receipt: receiptOfWriter(cluster, changed.proposal, item.receipt) } : changed;
    });
    return { ...message, items };
  };
  prepare(cluster);
  cluster.register(entryPeer, "request", "alice", 7);
  cluster.settle();
  return { votes, cluster };
};

const approver = (change: Partial<Approver>) => (item: Item) => ({ proposal: altered(item.proposal, change) });
const proposal = (change: Partial<Proposal>) => (item: Item) => ({ proposal: { ...item.proposal, ...change } });
const OTHER = "ab".repeat(32) as Digest;

describe("a member's vote", () => {
  it("is a receipt when everything the writer says can be derived from the evidence", () => {
    const { votes } = votesOn(() => ({}));
    expect(votes).toEqual([
      { from: 2, kind: "RECEIPT", detail: "" },
      { from: 3, kind: "RECEIPT", detail: "" },
    ]);
  });

  const lies: ReadonlyArray<readonly [string, (item: Item) => Partial<Item>, string]> = [
    ["another id", approver({ id: "mallory" }), "WRONG_EFFECTS"],
    ["another ref", approver({ ref: `alice@sha256:${OTHER}` }), "WRONG_EFFECTS"],
    ["another descriptor", approver({ descriptor: "{}" }), "WRONG_EFFECTS"],
    ["another key identity", approver({ keyIdentity: OTHER }), "WRONG_EFFECTS"],
    ["other metadata", approver({ metadata: [["team", "b"]] }), "WRONG_EFFECTS"],
    ["a later revision", approver({ revision: 2 }), "WRONG_EFFECTS"],
    [
      "a base revision",
      (item) => {
        const effects = replaceMetadataEffects.encode({
          version: NEWEST,
          approver: approverIn(item.proposal),
          baseRevision: 0,
        });
        return proposal({ effects })(item);
      },
      "WRONG_EFFECTS",
    ],
    ["another creation time", approver({ createdAt: NOW - 5 }), "WRONG_EFFECTS"],
    [
      "observations nobody made",
      (item) =>
        proposal({ effects: asFinish(item.proposal, { registrationId: OTHER, responseDigest: OTHER }).effects })(item),
      "WRONG_EFFECTS",
    ],
    ["effects that nobody can read", proposal({ effects: Uint8Array.of(0) }), "WRONG_EFFECTS"],
    ["a kind that nobody knows", proposal({ kind: "UNKNOWN" }), "WRONG_EFFECTS"],
    ["another kind of mutation", proposal({ kind: "METADATA" }), "WRONG_EFFECTS"],
    ["another actor", proposal({ actor: { iss: undefined, sub: "mallory", jti: undefined } }), "WRONG_ACTOR"],
    [
      "another body digest",
      (item) => proposal({ request: { ...item.proposal.request, bodyDigest: OTHER } })(item),
      "WRONG_REQUEST",
    ],
    ["another path", (item) => proposal({ request: { ...item.proposal.request, path: "/" } })(item), "WRONG_REQUEST"],
    ["another entry peer", proposal({ entryPeer: 3 }), "NOT_ATTESTED"],
    ["another request of the same entry peer", proposal({ requestId: "another" }), "NOT_ATTESTED"],
    ["another configuration", proposal({ configDigest: OTHER }), "CONFIGURATION_DIFFERS"],
    ["other incarnations", proposal({ incarnations: [1, 2, 1] }), "WRONG_INCARNATION"],
    ["too few incarnations", proposal({ incarnations: [1, 1] }), "WRONG_INCARNATION"],
    [
      "a deadline beyond a minute",
      (item) => proposal({ expiresAt: item.proposal.proposedAt + Limits.proposalMillis + 1 })(item),
      "EXPIRED",
    ],
    [
      "a time far ahead",
      (item) => proposal({ proposedAt: item.proposal.proposedAt + Limits.clockSkewMillis + 1 })(item),
      "CLOCK_SKEW",
    ],
    [
      "a body the caller did not send",
      (item) => ({ evidence: { ...item.evidence, call: { ...item.evidence.call, rawBody: Uint8Array.of(123, 125) } } }),
      "NOT_ATTESTED",
    ],
    [
      "a token the caller did not send",
      (item) => ({ evidence: { ...item.evidence, token: "another" } }),
      "NOT_ATTESTED",
    ],
  ];
  for (const [name, lie, check] of lies)
    it(`is a durable refusal of ${name}: ${check}`, () => {
      const { votes, cluster } = votesOn(lie);
      expect(votes.map((each) => `${each.kind} ${each.detail}`)).toEqual([`REFUSAL ${check}`, `REFUSAL ${check}`]);
      expect(cluster.tables.get(2)?.get("refusals")?.size).toBe(1);
      expect(cluster.tables.get(2)?.get("preparations")?.size ?? 0).toBe(0);
    });

  it("takes a request that entered at the writer as the writer's envelope brings it, without another signature", () => {
    const none = () => undefined;
    expect(votesOn(() => ({}), none, 1).votes.map((each) => each.kind)).toEqual(["RECEIPT", "RECEIPT"]);
    const signed = (item: Item) => ({ evidence: { ...item.evidence, attestation: item.receipt.signature } });
    expect(votesOn(signed, none, 1).votes.map((each) => each.detail)).toEqual(["NOT_ATTESTED", "NOT_ATTESTED"]);
  });

  it("is a refusal of a request from another entry peer that comes without that peer's signature", () => {
    const unsigned = (item: Item) => ({ evidence: { ...item.evidence, attestation: undefined } });
    expect(votesOn(unsigned).votes.map((each) => each.detail)).toEqual(["NOT_ATTESTED", "NOT_ATTESTED"]);
  });

  const silences: ReadonlyArray<readonly [string, (item: Item) => Partial<Item>]> = [
    ["another topology", proposal({ topologyDigest: OTHER })],
    ["another cluster", proposal({ clusterId: OTHER })],
    ["another epoch", proposal({ epoch: 2 })],
    ["another writer", proposal({ writer: 2 })],
    ["slot zero", proposal({ seq: 0 })],
    ["a slot beyond the window", proposal({ seq: CAPACITIES.slotWindow + 1 })],
    ["a receipt for another proposal", (item) => ({ ...proposal({ seq: 2 })(item), receipt: { ...item.receipt } })],
    [
      "a forged receipt",
      (item) => ({ receipt: { ...item.receipt, signature: "00".repeat(64) as SignedStatement["signature"] } }),
    ],
    [
      "a receipt signed after the deadline",
      (item) => ({
        receipt: { ...item.receipt, header: { ...item.receipt.header, signedAt: item.proposal.expiresAt + 1 } },
      }),
    ],
  ];
  for (const [name, lie] of silences)
    it(`is silence, and no write, for ${name}`, () => {
      const { votes, cluster } = votesOn(lie);
      expect(votes).toEqual([]);
      expect(cluster.tables.get(2)?.get("refusals")?.size ?? 0).toBe(0);
      expect(cluster.tables.get(2)?.get("slots")?.size ?? 0).toBe(0);
    });

  it("is a refusal, twice, for two proposals in one slot, and the slot stays with the first", () => {
    let first: Proposal | undefined;
    const { votes, cluster } = votesOn((item) => {
      first ??= item.proposal;
      return proposal({ seq: 1, configDigest: first === item.proposal ? item.proposal.configDigest : OTHER })(item);
    });
    cluster.register(1, "second", "bob", 8);
    cluster.settle();
    expect(votes.map((each) => `${each.kind} ${each.detail}`)).toEqual([
      "RECEIPT ",
      "RECEIPT ",
      "REFUSAL SLOT_TAKEN",
      "REFUSAL SLOT_TAKEN",
    ]);
    expect(cluster.tables.get(2)?.get("slots")?.size).toBe(1);
  });

  it("takes the last slot of the window", () => {
    const { votes } = votesOn(proposal({ seq: CAPACITIES.slotWindow }));
    expect(votes.map((each) => each.kind)).toEqual(["RECEIPT", "RECEIPT"]);
  });

  it("is a refusal where the member's own judgement of the token differs", () => {
    const { votes } = votesOn(
      () => ({}),
      (cluster) => {
        cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "unknown key" } : actor);
      },
    );
    expect(votes).toEqual([
      { from: 2, kind: "RECEIPT", detail: "" },
      { from: 3, kind: "REFUSAL", detail: "UNAUTHENTICATED" },
    ]);
  });

  it("waits, without a statement, where the keys cannot be had", () => {
    const { votes, cluster } = votesOn(
      () => ({}),
      (cluster) => {
        cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Unavailable" } : actor);
      },
    );
    expect(votes).toEqual([{ from: 2, kind: "RECEIPT", detail: "" }]);
    cluster.judge = () => actor;
    cluster.pass(1_000);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "Registered", created: true });
  });
});
