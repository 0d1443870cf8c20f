/** Metadata replacement through the whole protocol: one revision at a time, the same everywhere, never back. */
import { NEWEST } from "../codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import { altered, approverIn, asReplacement } from "../../properties/cluster/AlteredEffects.ts";
import { actor, crypto, codeOf, whole } from "../../properties/cluster/Cluster.ts";
import { receiptOfWriter } from "../../properties/cluster/Forging.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { Limits } from "../base/Limits.ts";
import type { Approver } from "../commands/approvers/Approver.ts";
import { registerKeyEffects } from "../commands/registerKey/RegisterKey.ts";
import { REGISTER_PATH } from "../commands/registerKey/Registration.ts";
import { replaceApprover } from "../commands/approvers/Root.ts";
import type { Message, MessageOf } from "../Message.ts";
import { locks, registered, revisions, rows } from "../../properties/cluster/Replacing.ts";

const UNKNOWN = `nobody@sha256:${"ab".repeat(32)}`;

describe("a metadata replacement", () => {
  for (const through of [1, 2, 3])
    it(`through peer ${through} leaves the same row, root and audit event everywhere`, () => {
      const { cluster, ref } = registered();
      const [before] = rows(cluster, ref);
      cluster.replace(through, "change", ref, '"1"', { team: "b", area: "eu" });
      cluster.pass(100);
      const expected = {
        ...before,
        metadata: [
          ["area", "eu"],
          ["team", "b"],
        ],
        revision: 2,
        updatedAt: cluster.now - 100,
      };
      expect(cluster.answers.get("change")).toEqual({ _tag: "Replaced", approver: expected });
      expect(rows(cluster, ref)).toEqual([expected, expected, expected]);
      const [row] = rows(cluster, ref);
      if (row === undefined) throw new Error("it was just there");
      const root = crypto.setDigest(replaceApprover(crypto, crypto.emptySet, undefined, row));
      for (const [peerId, { state }] of cluster.peers) {
        expect(crypto.setDigest(state.registry.set)).toBe(root);
        expect(state.registry.approvers).toBe(1);
        const audit = cluster.row(peerId, "audit", "0000000000000003");
        expect(audit).toMatchObject({
          event: "APPROVER_METADATA_REPLACED",
          approverRef: ref,
          metadataRevision: 2,
          entryPeer: through,
          request: { method: "PUT" },
        });
      }
      expect(locks(cluster)).toEqual([0, 0, 0]);
    });

  it("may clear everything, and goes on from revision to revision", () => {
    const { cluster, ref } = registered();
    cluster.replace(2, "clear", ref, '"1"', {});
    cluster.pass(100);
    cluster.replace(3, "again", ref, '"2"', { team: "c" });
    cluster.pass(100);
    expect(cluster.answers.get("clear")).toMatchObject({ approver: { revision: 2, metadata: [] } });
    expect(revisions(cluster, ref)).toEqual([3, 3, 3]);
  });

  it("works on a mono instance, where of several for one revision the first is done", () => {
    const { cluster, ref } = registered(1);
    for (const name of ["a", "b", "c"]) cluster.replace(1, name, ref, '"1"', { team: name });
    cluster.pass(50);
    expect(["a", "b", "c"].map((name) => codeOf(cluster, name))).toEqual([
      "Replaced",
      "PRECONDITION_FAILED",
      "PRECONDITION_FAILED",
    ]);
    expect(rows(cluster, ref)[0]).toMatchObject({ revision: 2, metadata: [["team", "a"]] });
  });

  it("is refused, for certain and through any peer, for any If-Match but the one of the current revision", () => {
    const { cluster, ref } = registered();
    cluster.replace(1, "change", ref, '"1"', { team: "b" });
    cluster.pass(100);
    const refused = ['"1"', '"3"', 'W/"2"', "*", '"2", "3"', undefined];
    for (const ifMatch of refused)
      for (const through of [1, 2]) {
        const code = ifMatch === undefined ? "PRECONDITION_REQUIRED" : "PRECONDITION_FAILED";
        cluster.replace(through, `${ifMatch} ${through}`, ref, ifMatch, { team: "c" });
        cluster.pass(100);
        const answer = cluster.answers.get(`${ifMatch} ${through}`);
        expect(answer, ifMatch).toMatchObject({ rejection: { code, outcomeUnknown: false } });
      }
    expect(revisions(cluster, ref)).toEqual([2, 2, 2]);
  });

  it("is refused for an unknown approver, and without its own permission", () => {
    const { cluster, ref } = registered();
    cluster.replace(2, "unknown", UNKNOWN, '"1"', {});
    cluster.pass(100);
    expect(cluster.answers.get("unknown")).toMatchObject({
      rejection: { code: "APPROVER_NOT_FOUND", outcomeUnknown: false },
    });
    if (actor._tag !== "Verified") throw new Error("the test actor is verified");
    const { claims } = actor;
    const only = (permission: string): ActorCheck => ({
      _tag: "Verified",
      claims: { ...claims, permissions: [permission] },
    });
    cluster.judge = () => only("service.approvers.register");
    cluster.replace(2, "forbidden", ref, '"1"', {});
    expect(codeOf(cluster, "forbidden")).toBe("ACCESS_DENIED");
    cluster.judge = () => only("service.approvers.metadata");
    cluster.replace(2, "allowed", ref, '"1"', {});
    cluster.register(2, "other", "bob", 8);
    cluster.pass(100);
    expect([codeOf(cluster, "allowed"), codeOf(cluster, "other")]).toEqual(["Replaced", "ACCESS_DENIED"]);
  });

  it("is refused while a member is missing, and nothing is reserved", () => {
    const { cluster, ref } = registered();
    cluster.peers.get(2)?.stop();
    cluster.pass(2_000);
    cluster.replace(3, "change", ref, '"1"', {});
    cluster.pass(4_000);
    expect(cluster.answers.get("change")).toMatchObject({
      rejection: { members: [{ peerId: 2 }], outcomeUnknown: false },
    });
    expect(locks(cluster)).toEqual([0, 0, 0]);
  });

  it("takes a header of as many bytes as may travel and refuses one more, whatever its characters", () => {
    const { cluster } = registered();
    const call = { method: "POST", path: REGISTER_PATH, rawBody: new Uint8Array(2) };
    for (const [index, header, detail] of [
      [1, "é".repeat(Limits.ifMatchBytes / 2), "The request body is not a registration."],
      [2, `x${"é".repeat(Limits.ifMatchBytes / 2)}`, "The body or the If-Match header is too large."],
      [3, "\ud800", "The body or the If-Match header is too large."],
    ] as const) {
      cluster.ask(3, `long-${index}`, { ...call, ifMatch: header });
      expect(cluster.answers.get(`long-${index}`)).toMatchObject({ rejection: { detail } });
    }
  });
});

describe("two replacements of one revision", () => {
  it("through two peers at once: one is done, the other is refused for certain", () => {
    const { cluster, ref } = registered();
    cluster.replace(2, "b", ref, '"1"', { team: "b" });
    cluster.replace(3, "c", ref, '"1"', { team: "c" });
    cluster.pass(500);
    expect(["b", "c"].map((name) => codeOf(cluster, name)).toSorted()).toEqual(["PRECONDITION_FAILED", "Replaced"]);
    const winner = codeOf(cluster, "b") === "Replaced" ? "b" : "c";
    expect(cluster.answers.get(winner === "b" ? "c" : "b")).toMatchObject({ rejection: { outcomeUnknown: false } });
    for (const row of rows(cluster, ref)) expect(row).toMatchObject({ revision: 2, metadata: [["team", winner]] });
  });

  it("the second waits while the first is undecided, and is done when that is aborted", () => {
    const { cluster, ref } = registered();
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Unavailable" } : actor);
    cluster.replace(1, "first-change", ref, '"1"', { team: "b" });
    cluster.settle();
    expect(cluster.peers.get(1)?.state.undecided.locks.size).toBe(1);
    cluster.replace(1, "second", ref, '"1"', { team: "c" });
    cluster.pass(1_500);
    expect(cluster.answers.has("second")).toBe(false);
    let asked = 0;
    cluster.judge = (peerId) => (peerId === 3 && asked++ === 0 ? { _tag: "Refused", reason: "unknown key" } : actor);
    cluster.pass(6_000);
    expect(codeOf(cluster, "first-change")).toBe("UNAUTHENTICATED");
    expect(codeOf(cluster, "second")).toBe("Replaced");
    for (const row of rows(cluster, ref)) expect(row).toMatchObject({ revision: 2, metadata: [["team", "c"]] });
  });

  it("a registration of the approver waits for a change of it and shows what came of it", () => {
    const { cluster, ref } = registered();
    cluster.tamper = (_from, to, message) => (message._tag === "CommitAcks" && to === 1 ? undefined : message);
    cluster.replace(1, "change", ref, '"1"', { team: "b" });
    cluster.settle();
    cluster.register(2, "again", "alice", 7);
    cluster.settle();
    expect(cluster.answers.has("again")).toBe(false);
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(codeOf(cluster, "change")).toBe("Replaced");
    expect(cluster.answers.get("again")).toMatchObject({ created: false, approver: { revision: 2 } });
  });
});

/** The votes on a replacement whose writer changes what it proposes. */
const votesOn = (lie: (item: Item) => Partial<Item>): ReadonlyArray<string> => {
  const { cluster, ref } = registered();
  const votes: Array<string> = [];
  cluster.tamper = (_from, _to, message): Message | undefined => {
    if (message._tag === "Votes")
      for (const { statement } of message.statements) votes.push(`${statement.kind} ${statement.detail}`);
    if (message._tag === "AbortRequest") return undefined;
    if (message._tag !== "Prepare") return message;
    const items = message.items.map((item) => {
      const changed = { ...item, ...lie(item) };
      return { ...changed, receipt: receiptOfWriter(cluster, changed.proposal, item.receipt) };
    });
    return { ...message, items };
  };
  cluster.replace(2, "change", ref, '"1"', { team: "b" });
  cluster.settle();
  return votes;
};

type Item = MessageOf<"Prepare">["items"][number];

const approver = (change: Partial<Approver>) => (item: Item) => ({ proposal: altered(item.proposal, change) });

describe("a member's vote on a replacement", () => {
  it("is a receipt for what follows from the evidence and its own row", () => {
    expect(votesOn(() => ({}))).toEqual(["RECEIPT ", "RECEIPT "]);
  });

  it.each<readonly [string, (item: Item) => Partial<Item>, string]>([
    ["other metadata", approver({ metadata: [["team", "x"]] }), "WRONG_EFFECTS"],
    ["a revision left out", approver({ revision: 3 }), "WRONG_EFFECTS"],
    ["another base", (item) => ({ proposal: asReplacement(item.proposal, 2, { revision: 3 }) }), "WRONG_EFFECTS"],
    [
      "no base",
      (item) => {
        const effects = registerKeyEffects.encode({ version: NEWEST, approver: approverIn(item.proposal) });
        return { proposal: { ...item.proposal, effects } };
      },
      "WRONG_EFFECTS",
    ],
    ["another time of creation", approver({ createdAt: 1 }), "WRONG_EFFECTS"],
    [
      "the time of the last update",
      (item) => approver({ updatedAt: approverIn(item.proposal).createdAt })(item),
      "WRONG_EFFECTS",
    ],
    ["another descriptor", approver({ descriptor: "{}" }), "WRONG_EFFECTS"],
    ["another approver", approver({ ref: UNKNOWN, id: "nobody" }), "WRONG_EFFECTS"],
    ["the kind of a registration", (item) => ({ proposal: { ...item.proposal, kind: "REGISTER" } }), "WRONG_EFFECTS"],
    [
      "an If-Match the caller did not send",
      (item) => ({ evidence: { ...item.evidence, call: { ...item.evidence.call, ifMatch: '"2"' } } }),
      "NOT_ATTESTED",
    ],
  ])("is a refusal of %s", (_what, lie, code) => {
    expect(votesOn(lie)).toEqual([`REFUSAL ${code}`, `REFUSAL ${code}`]);
  });

  it("is a refusal of what builds on a revision that was passed, or on nobody", () => {
    for (const [name, ...codes] of [
      ["change", "PRECONDITION_FAILED", "PRECONDITION_FAILED"],
      // Its own entry peer has told its caller no.
      ["unknown", "DENIED", "APPROVER_NOT_FOUND"],
    ] as const) {
      const { cluster, ref } = registered();
      const evidence = new Map<string, Item["evidence"]>();
      const votes: Array<string> = [];
      cluster.tamper = (from, to, message): Message | undefined => {
        if (message._tag === "Forward") evidence.set(message.forward.requestId, message.forward);
        if (message._tag === "Votes")
          for (const { statement } of message.statements) votes.push(`${statement.kind} ${statement.detail}`);
        const old = evidence.get(name);
        if (message._tag !== "Prepare" || old === undefined || !evidence.has("second")) return whole(from, to, message);
        // The writer replays an earlier request in the place of the second.
        const items = message.items.map((item) => {
          const request = {
            ...item.proposal.request,
            path: old.call.path,
            bodyDigest: item.proposal.request.bodyDigest,
          };
          const proposal = { ...item.proposal, request, requestId: old.requestId };
          return { proposal, evidence: old, receipt: receiptOfWriter(cluster, proposal, item.receipt) };
        });
        return { ...message, items };
      };
      cluster.replace(2, "change", ref, '"1"', { team: "b" });
      cluster.replace(2, "unknown", UNKNOWN, '"1"', { team: "b" });
      cluster.pass(100);
      votes.length = 0;
      cluster.replace(2, "second", ref, '"2"', { team: "b" });
      cluster.settle();
      expect(votes.slice(0, 2)).toEqual(codes.map((code) => `REFUSAL ${code}`));
      expect(revisions(cluster, ref)).toEqual([2, 2, 2]);
    }
  });
});
